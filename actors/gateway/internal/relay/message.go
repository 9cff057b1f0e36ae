package relay

import (
	"math"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Instant is a point on the clock of one end: the time since some moment of its own. Instants of
// two ends are never compared.
type Instant time.Duration

func (i Instant) since(o Instant) time.Duration { return time.Duration(i - o) }

// plus stops at the last instant: durations come from owners and from other nodes.
func (i Instant) plus(d time.Duration) Instant {
	if sum := i + Instant(d); d < 0 || sum >= i {
		return sum
	}
	return math.MaxInt64
}

// margin is the part of a promise that the requester is not told: for clocks that do not go equally
// fast.
const margin = 100

// Wish says how the owner wants its request to go on, or to end.
type Wish uint8

// The wishes. A greater one replaces a smaller one.
const (
	// Keep: the request goes on.
	Keep Wish = iota
	// Revoke asks the holder, which is the owner itself, to give the lock back.
	Revoke
	// Cancel gives the request up, or the lock back.
	Cancel
	// Release gives the lock back, or the request up.
	Release
)

// Ask is what the owner of a hold asks the gateway's lock actor for besides.
type Ask uint8

// The asks. messages.Contended and Checked answer them.
const (
	WatchContention Ask = iota
	Check
)

// Asks has the number of the newest of each ask that is not answered; zero for none. A requester
// counts all of its asks together.
type Asks [2]uint64

// answers gives the ask that a notice answers; false where it answers none.
func answers(notice any) (Ask, bool) {
	switch notice.(type) {
	case *messages.Contended:
		return WatchContention, true
	case *messages.Checked:
		return Check, true
	}
	return 0, false
}

// Request is one sending of a requester. All sendings of one request have the same ID.
type Request struct {
	ID string
	// Gateway is the name of the gateway that has accepted the request; zero before one has.
	// Another one at the same address does not know it.
	Gateway uint64
	// Number numbers the sendings, from 1; Seen is the number of the newest event that was taken
	// in.
	Number, Seen uint64
	// Want is the request; nil once the gateway has accepted it.
	Want *messages.Acquire
	// Wish is the newest wish of the owner; Reason is the reason for a Cancel.
	Wish   Wish
	Reason messages.Reason
	// Asks are the owner's asks that are not answered.
	Asks Asks
	// Over: the requester has ended, and wants no reply. The gateway gives the request up.
	Over bool
}

// Acceptance says whether a gateway has accepted a request.
type Acceptance uint8

// The acceptances.
const (
	// Known: the gateway has accepted the request.
	Known Acceptance = iota
	// Unknown: it does not have the request, or not any more. No node of it is left, or it is being
	// deleted.
	Unknown
	// Closing: it takes no more requests.
	Closing
	// Refused: it cannot carry the request out, now or later; Detail says why.
	Refused
	// Full: it has as many requests as it takes; Detail says which bound. That may pass.
	Full
)

// Reply is a gateway's answer, or its report that something has happened.
type Reply struct {
	ID         string
	Gateway    uint64
	Acceptance Acceptance
	// Detail says why a request is not accepted. For a Known one it is the obstacle that keeps the
	// servers, though in reach, from carrying it out; "" once there is none.
	Detail string
	// Number is the newest sending that the gateway has received; zero says that nothing is
	// promised.
	Number uint64
	// Lasts is for how long the lease lasts from the sending of Number; zero where none is
	// promised.
	Lasts time.Duration
	// Every is the time between sendings that the gateway wants from a requester that waits: half of
	// the timeout of its session.
	Every time.Duration
	// Predecessor is the contender that a request waits for. It is nil for a request that holds, and
	// while the gateway has not learned of one.
	Predecessor *Predecessor
	// First is the number of the first of Events, which follow each other.
	First  uint64
	Events []Event
}

// Predecessor is the contender that a request waits for, as its gateway knows it.
type Predecessor struct {
	// Number counts the predecessors of a request, from 1. The greatest is the newest.
	Number uint64
	// Contender is its node with the node's data; zero once none is known.
	Contender messages.Contender
}

// Event is a notice of the gateway's lock actor.
type Event struct {
	// Notice is a pointer to one of the notices of package messages, or to a messages.Transition.
	// Its times mean nothing to the other end.
	Notice any
	// In is the deadline of messages.RevokeRequested, counted from the sending of Reply.Number;
	// zero for no deadline.
	In time.Duration
	// Answers is the number of the ask that messages.Contended or Checked answers; zero for others.
	Answers uint64
}

// Output is an instruction of an end to its shell: Send, Dismiss, Say, Trouble, WaitFor, Extend, EndLease or End of
// the requester, Spawn, Tell or Answer of the gateway.
type Output any

// Outputs of the requester.
type (
	// Send sends to a gateway, by its number.
	Send struct {
		Gateway int
		Request Request
	}
	// Dismiss sends to the sender of the reply.
	Dismiss struct{ Request Request }
	// Say tells the owner and the observers; messages.Transition is for observers only. Times in it
	// and the actor of its grant are the shell's to fill in, from the lease and the clock.
	Say struct {
		Notice any
		// Deadline is the deadline of messages.RevokeRequested; zero for none.
		Deadline Instant
	}
	// Trouble tells the listener the obstacle that keeps the request from being carried out; ""
	// once there is none.
	Trouble struct{ Text string }
	// WaitFor tells the listener the contender that the request waits for; zero once none is known.
	WaitFor struct{ Predecessor messages.Contender }
	// Extend sets the end of the lease. The first one comes before Held.
	Extend struct{ Until Instant }
	// EndLease ends the lease.
	EndLease struct{}
	// End stops the request's actor.
	End struct{}
)

// Outputs of the gateway.
type (
	// Spawn spawns a lock actor for a request of the node From. It must not enforce a grace period: the table does.
	Spawn struct {
		ID, From string
		Want     messages.Acquire
	}
	// Tell sends a command to the lock actor of a request.
	Tell struct {
		ID      string
		Command any
	}
	// Answer sends a reply to a requester.
	Answer struct {
		To    messages.ActorID
		Reply Reply
	}
)
