package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// RequestID names a lock request among those of one session; later requests have greater ones.
type RequestID uint64

// Moment is a time by a clock of the shell's, for its figures: it is carried, and nothing is decided on it.
type Moment int64

// Input is something that the coordinator is told: *Order, Ended, *Reply, Changed, Connected, Disconnected, Lapsed,
// Expired, Fired, or Others.
type Input interface{ input() }

// At is what the shell knows at the moment of an input.
type At struct {
	Moment Moment
	Lease  Lease
	// Took is how long the query took that a Reply answers.
	Took time.Duration
}

// Lease is the lease of the session: see package zkconn.
type Lease struct {
	// Run is its number: a lease that was over and was renewed is another run.
	Run   uint64
	Valid bool
	// Left is how long it still runs; not above zero when it is over.
	Left time.Duration
}

type (
	// Order is an effect that the machine of a request has asked for.
	Order struct {
		Request RequestID
		Spec    *Spec
		machine.Effect
		// Epoch is that of the newest event that the request had heard of, zero before there was any. An order that was
		// decided on in an epoch that is over is void.
		Epoch uint64
		// Moment is when a hold was given back.
		Moment Moment
	}

	// Ended says that a lock actor has ended, in order or not. Nothing comes from it any more.
	Ended struct{ Request RequestID }

	// Reply is the answer to an Ask of this epoch.
	Reply struct {
		ID     uint64
		Answer Answer
	}

	// Changed is an event of something that is watched.
	Changed struct {
		Path   string
		Change Change
	}

	// Connected: there is a connection. Timeout is that of the session.
	Connected struct{ Timeout time.Duration }

	// Disconnected: it is lost, and with it the watches. The session may live.
	Disconnected struct{}

	// Lapsed: no lease may rest on the session any more. The next input that matters is Expired, once a request wants one.
	Lapsed struct{}

	// Expired: the session is over. Its nodes are gone from the servers, or go with it.
	Expired struct{}

	// Fired: a timer has.
	Fired struct{ Timer uint64 }

	// Others says by how much the weight of those ephemeral nodes changes of which only the shell knows, in bytes. Wanted
	// is for how much there is to be room before that: retained nodes that nobody uses are given up for it.
	Others struct{ Change, Wanted int }
)

func (*Order) input()       {}
func (Ended) input()        {}
func (*Reply) input()       {}
func (Changed) input()      {}
func (Connected) input()    {}
func (Disconnected) input() {}
func (Lapsed) input()       {}
func (Expired) input()      {}
func (Fired) input()        {}
func (Others) input()       {}

// Change is what has happened to something that is watched.
type Change uint8

// The changes.
const (
	NodeDeleted Change = iota
	DataChanged
	ChildrenChanged
)
