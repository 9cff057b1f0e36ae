package walk

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// sessionTimeout is the timeout of all sessions; no time passes.
const sessionTimeout = 10 * time.Second

// Calls above the queue: what the clients of a plan call, and what their turns have heard.

// maxCalls is the number of calls of a plan, at most.
const maxCalls = 4

// Call is a call of a client for a lock. The lock actors of a session with calls are asked for by
// its turns: they are the requests of that session in Plan.Sessions, which begin in that order. A
// history that needs more is not followed further.
type Call struct {
	// Session is the session of the client that calls.
	Session int
	// Mode and Path say for which lock, Name for which queue of its path.
	Mode messages.Mode
	Path int
	Name string
	// The options: see turns.Want.
	Cohort  int
	Sticky  time.Duration
	Grace   time.Duration
	Reentry bool
	Try     bool
	// Within names, from 1, the call within whose lease this one is made. Where that has ended
	// before, nobody calls.
	Within int
}

// sameQueue reports whether two calls are for one queue.
func (c *Call) sameQueue(other *Call) bool { return c.Path == other.Path && c.Name == other.Name }

// sameWish reports whether one hold may serve two calls.
func (c *Call) sameWish(other *Call) bool {
	return c.sameQueue(other) && c.Session == other.Session && c.Mode == other.Mode && c.Cohort == other.Cohort &&
		c.Sticky == other.Sticky && c.Grace == other.Grace
}

// call is what has become of a call.
type call struct {
	phase callPhase
	id    turns.CallID
	// on is the lock actor of its hold, from 1; zero for none. epoch and term are of the hold.
	on          uint8
	epoch, term uint64
	due         time.Duration // of its timer; zero for none
}

// callPhase says how far a call is.
type callPhase uint8

const (
	toCome callPhase = iota
	inLine
	hasHold
	isAsked // it has its hold, and somebody asks for the lock
	callEnded
)

func (c *call) has() bool { return c.phase == hasHold || c.phase == isAsked }

// askedFor is what a lock actor that turns have asked for is for, and what its shell knows of it.
type askedFor struct {
	call   uint8 // from 1: the call for which it was asked; zero: it was not asked for by turns
	beside uint8 // from 1: the lock actor of the writer at whose place it stands; zero for others
	hold   turns.HoldID
	due    time.Duration // of its timer; zero for none
	sure   time.Duration // when its node was known to exist, or in use, last
	try, shared,
	leaves, // it was told to end
	ended, // turns have heard its end
	watched, // its node is watched
	granted bool // some call had it
}

// client is the shell of the turns of a session.
type client struct {
	// turns is the machine. It is made anew from all that it has heard before it hears more, because
	// other states have it, too.
	turns *turns.Turns
	heard *heard
	// print is the hash of its state.
	print [2]uint64
	// closed: the client was closed.
	closed bool
}

// heard is one input of turns, and all before it.
type heard struct {
	told
	before *heard
}

// told is an input of turns, as plain data.
type told struct {
	what    input
	at      time.Duration
	lease   reading
	call    turns.CallID // that it is about; of a Call, the one that it is made within
	hold    turns.HoldID
	want    *turns.Want
	held    messages.Held
	timeout time.Duration // of the session that holds
	n       int
	why     messages.Reason
}

// input is the kind of an input of turns.
type input uint8

const (
	inCall input = iota
	inWithdraw
	inGiveBack
	inCallTimer
	inWaiting
	inHeld
	inWatched
	inChecked
	inSuspended
	inResumed
	inContended
	inRevoke
	inLost
	inRefused
	inGone
	inHoldTimer
	inClose
)

var inputNames = [...]string{"Call", "Withdraw", "GiveBack", "CallTimer", "Waiting", "Held", "Watched", "Checked", "Suspended",
	"Resumed", "Contended", "Revoke", "Lost", "Refused", "Gone", "HoldTimer", "Close"}

// reading is the lease of a session as it was at a moment.
type reading struct {
	epoch, term uint64
	valid       bool
}

// Unbroken reports whether a term was unbroken then.
func (r reading) Unbroken(epoch, term uint64) bool {
	return r.valid && r.epoch == epoch && r.term == term
}

// tell gives an input to turns. It gives the ID of the call that it begins.
func (in *told) tell(to *turns.Turns) (id turns.CallID) {
	m := turns.Moment{At: in.at, Lease: in.lease}
	switch in.what {
	case inCall:
		return to.Call(m, in.want, in.call)
	case inWithdraw:
		to.Withdraw(m, in.call)
	case inGiveBack:
		to.GiveBack(m, in.call)
	case inCallTimer:
		to.CallTimer(m, in.call)
	case inHeld:
		to.Held(m, in.hold, &in.held, in.timeout)
	case inLost, inRefused, inGone:
		to.Ended(m, in.hold, in.why, "")
	case inHoldTimer:
		to.HoldTimer(m, in.hold)
	case inClose:
		to.Close(m)
	default:
		to.Hear(m, in.hold, map[input]any{inWaiting: &messages.Waiting{Before: in.n}, inWatched: &messages.Watched{Readable: true},
			inChecked: &messages.Checked{}, inSuspended: &messages.Suspended{}, inResumed: &messages.Resumed{},
			inContended: &messages.Contended{}, inRevoke: &messages.RevokeRequested{}}[in.what])
	}
	return 0
}

// again makes turns that have heard the same.
func (h *heard) again() *turns.Turns {
	var all []*heard
	for ; h != nil; h = h.before {
		all = append(all, h)
	}
	t := turns.New(turns.DefaultBounds())
	for i := range all {
		all[len(all)-1-i].tell(t)
		t.Take()
	}
	return t
}
