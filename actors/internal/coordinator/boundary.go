package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// operation names an operation that the machine of a request has asked for.
type operation struct {
	request RequestID
	op      uint64
}

// Moment is a time by a clock of the shell's, for its figures: it is carried, and nothing is decided on it.
type Moment int64

// Input is something that the coordinator is told: *Order, Ended, *Reply, Changed, Connected, Disconnected, Lapsed,
// Expired, Fired, or Others.
type Input interface{ input() }

// At has the shell's readings at the moment of an input.
type At struct {
	Moment Moment
	Lease  Lease
	// Took is the duration of the query that a Reply answers.
	Took time.Duration
}

// Lease is the lease of the session: see package zkconn/lease.
type Lease struct {
	// Term is the number of its term. It changes where the lease was over and then renewed.
	Term  uint64
	Valid bool
	// Left is the time until it ends; not above zero when it is over.
	Left time.Duration
}

type (
	// Order is an effect that the machine of a request has asked for.
	Order struct {
		Request RequestID
		Spec    *Spec
		machine.Effect
		// Epoch is the epoch of the newest event that the request had heard of, zero before any
		// event. An order that was decided on in an epoch that is over is void.
		Epoch uint64
		// Moment is the time at which a hold was given back.
		Moment Moment
	}

	// Ended says that a lock actor has ended, in order or not. Nothing comes from it any more.
	Ended struct{ Request RequestID }

	// Reply is the answer to an Ask of this epoch.
	Reply struct {
		ID     uint64
		Answer Answer
	}

	// Changed is an event of a watch.
	Changed struct {
		Path   string
		Change Change
	}

	// Connected: there is a connection. Timeout is the timeout of the session.
	Connected struct{ Timeout time.Duration }

	// Disconnected: it is lost, and with it the watches. The session may live.
	Disconnected struct{}

	// Lapsed: no lease may rest on the session any more. The next input that matters is Expired, once a request wants one.
	Lapsed struct{}

	// Expired: the session is over. Its nodes are gone from the servers, or go with it.
	Expired struct{}

	// Fired: a timer has.
	Fired struct{ Timer uint64 }

	// Others says by how much the weight of those ephemeral nodes changes of which only the shell
	// knows, in bytes.
	Others struct{ Change int }
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

// Change says how a watched node, or its list of children, has changed.
type Change uint8

// The changes.
const (
	NodeDeleted Change = iota
	DataChanged
	ChildrenChanged
)

// Output is something that the shell is to do, in order: *Tell, *Ask, StartTimer, StopTimer, NewEpoch, *Trouble, or *Note.
type Output interface{ output() }

type (
	// Tell is an event for the machine of a request.
	Tell struct {
		To    RequestID
		Event machine.Event
		// Handoff says when the lock was left, and whether in this session, for a request whose
		// turn may have come.
		Handoff Handoff
		// Predecessor is the contender that a request begins to wait for, as far as it is known
		// without a further query.
		Predecessor *Predecessor
		// Session is the shell's value, which is sent on unchanged.
		Session any
	}

	// Ask is a query for the servers. Its reply, which comes in any case as long as the epoch lasts, has the same ID.
	Ask struct {
		ID    uint64
		Query Query
	}

	// StartTimer asks for Fired after a while, unless the epoch is over by then.
	StartTimer struct {
		Timer uint64
		After time.Duration
	}

	// StopTimer says that nobody waits for a timer any more.
	StopTimer struct{ Timer uint64 }

	// NewEpoch ends the session, with everything that it still has at the servers, and begins the
	// next. The shell then drops replies and events of the old session, and its timers.
	NewEpoch struct{ Epoch uint64 }

	// Trouble gives the reason why a request is not carried out though there are servers. An empty
	// text says that the trouble is over. To is zero for the session's heartbeat.
	Trouble struct {
		To   RequestID
		Path string // the lock path
		Text string
	}

	// Note is something for the log and the figures.
	Note struct {
		What   Noted
		Path   string
		Node   string
		Token  int64
		Tries  int
		Detail string
	}
)

func (*Tell) output()      {}
func (*Ask) output()       {}
func (StartTimer) output() {}
func (StopTimer) output()  {}
func (NewEpoch) output()   {}
func (*Trouble) output()   {}
func (*Note) output()      {}

// Predecessor describes a predecessor: by its node as it was read, or, in this session, by its
// request. Nothing is decided on it. It is immutable.
type Predecessor struct {
	Node string
	// Session is that of the node, zero for a persistent one; the shell fills in its own. Data and
	// Czxid are as they were read, or else Unread: the session may not.
	Session int64
	Data    []byte
	Czxid   int64
	Unread  bool
	// Spec and Token are those of its request in this session.
	Spec  *Spec
	Token messages.Token
}

// Handoff says when the predecessor of a request gave the lock back, or was heard to be gone; zero
// where neither is known.
type Handoff struct {
	At    Moment
	Local bool // it was of the same session
}

// Noted is the subject of a Note.
type Noted uint8

const (
	// Unanswered: a heartbeat has had no answer by the time at which the next is due.
	Unanswered Noted = iota
	// NotRemoved: the node of a request that has ended could not be deleted yet.
	NotRemoved
	// MayNotRemove: the servers refuse to delete it, so the session is ended.
	MayNotRemove
	// Unowned: a node of this session that no request owned was removed.
	Unowned
	// NoRequest: a session does not carry out such an order.
	NoRequest
	// Polled: a waiter found a change by looking again, though an event should have told it: see
	// Counts.
	Polled
	// Unannounced: the same, because a semaphore's contender before it has not written that it holds,
	// as where it was killed.
	Unannounced
)
