package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Output is something that the shell is to do, in order: *Tell, *Ask, StartTimer, StopTimer, NewEpoch, Urgent, *Trouble,
// or *Note.
type Output interface{ output() }

type (
	// Tell is an event for the machine of a request.
	Tell struct {
		To    RequestID
		Event machine.Event
		// Handoff, of a request whose turn may have come, is when and where the lock was left.
		Handoff Handoff
		// As is the address of who made the node that the request goes on with, where that was another.
		As string
		// Predecessor, of a request that begins to wait, is whom it waits for, as far as that was told on the way.
		Predecessor *Predecessor
		// Session is the shell's, who sends this on as it is.
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

	// NewEpoch ends the session, with whatever it still has at the servers, and begins the next. Replies and events of the
	// old one are not to be told any more, and its timers not to fire.
	NewEpoch struct{ Epoch uint64 }

	// Urgent says whether to reconnect as fast as possible, because a lock is held.
	Urgent struct{ Urgent bool }

	// Trouble says what keeps a request from being carried out though there are servers; the empty text that nothing
	// does any more. To is zero where that is the session's heartbeat.
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
func (Urgent) output()     {}
func (*Trouble) output()   {}
func (*Note) output()      {}

// Predecessor says what is known of a predecessor: what its node says, or, where that is of this session, what it wants.
// Nothing is decided on it. It does not change: many requests may keep one.
type Predecessor struct {
	Node string
	Data []byte
	Spec *Spec
}

// Handoff says when the one before a request gave the lock back, or was heard to be gone; zero where neither is known.
type Handoff struct {
	At    Moment
	Local bool // it was of the same session
}

// Noted is what a Note is about.
type Noted uint8

const (
	// Unanswered: a heartbeat has had no answer by the time at which the next is due.
	Unanswered Noted = iota
	// NotRemoved: what is left of a request that has ended could not be deleted yet.
	NotRemoved
	// MayNotRemove: it may not be deleted, so that the session is ended for it.
	MayNotRemove
	// Unowned: a node of this session that no request owned was removed.
	Unowned
	// NoRequest: an order is none that a session carries out.
	NoRequest
)
