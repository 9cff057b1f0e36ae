package relay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Requester is one request on a node without a session. Make one with NewRequester; begin with
// Begin. After each call Due says when Wake is to be called at the latest.
type Requester struct {
	guid     string
	want     messages.Acquire
	alone    bool
	gateways int // how many are named

	gateway  int     // whose turn it is
	pinned   bool    // it must not go to another one: see Pin
	attempt  int     // begun anew so often
	refusals int     // gateways in a row that were full
	entered  Instant // when this attempt began
	accepted bool
	by       uint64 // the gateway that has accepted it; zero before
	since    uint64 // the newest sending when it did; those up to it may have reached others
	order    Order
	reason   messages.Reason // of the order
	revoke   uint64          // the first sending that asks the lock back; zero for none
	stage    stage

	number uint64
	seen   uint64
	sent   []sending // those whose replies may still count, in order
	asked  Instant   // when the newest was sent
	heard  Instant   // when a reply came, or the request began
	begun  Instant
	told   Instant // when the order was given
	every  time.Duration
	slow   time.Duration // the longest every
	ghost  Instant       // until when an earlier attempt may still be at a gateway

	shown, there messages.State // as the owner knows it; as the gateway's lock actor has told it
	silent       bool           // the owner was told that nothing is heard
	grant        messages.Grant
	deadline     Instant       // of the lease; only while it holds
	grace        Instant       // when the lock will be taken; zero for never
	lasts        time.Duration // as last told
	fresh        Instant       // sending time of the newest reply with a promise
}

// stage is where a request stands on the requester's side.
type stage uint8

const (
	// before: its owner has not been told Held.
	before stage = iota
	// held: its owner has, and deadline is in the future.
	held
	// after: it had the lock, and has it no more: given back, or revoked.
	after
	// over: the end was told.
	over
)

type sending struct {
	number uint64
	at     Instant
}

// How long a requester waits. The gateway says how often a waiter is to send; these are for when it
// has not.
const (
	firstEvery = 500 * time.Millisecond
	minEvery   = 20 * time.Millisecond
	maxEvery   = time.Hour
	// orderedEvery is how often an order is sent that the gateway has not carried out.
	orderedEvery = 500 * time.Millisecond
	// missed is how many sendings go unanswered before the owner is told.
	missed = 3
	// timeoutSlack is how long the gateway, which counts Acquire.Timeout too, is given to tell of
	// its end.
	timeoutSlack = time.Second
	// leastPatience is for how long at least an end is waited for.
	leastPatience = 5 * time.Second
	// keptSendings bounds the sendings whose replies count.
	keptSendings = 64
)

// What the requester asks its shell to do.
type (
	// Send sends to a gateway, by its number among those that are named.
	Send struct {
		Gateway int
		Request Request
	}
	// Dismiss sends to whom the reply came from.
	Dismiss struct{ Request Request }
	// Say tells the owner and the observers; messages.Transition is for observers only. Times in it
	// and the actor of its grant are the shell's to fill in, from the lease and the clock.
	Say struct {
		Notice any
		// Deadline is that of messages.RevokeRequested; zero for none.
		Deadline Instant
	}
	// Extend says until when the lease lasts: the first before Held.
	Extend struct{ Until Instant }
	// EndLease ends the lease.
	EndLease struct{}
	// End stops the request's actor.
	End struct{}
)

// NewRequester makes a request of one of so many gateways. guid tells it from all others. alone: no
// other request has its owner, so that it can only be in the way of itself.
func NewRequester(guid string, gateways int, want messages.Acquire, alone bool) *Requester {
	return &Requester{guid: guid, want: want, alone: alone, gateways: gateways, every: firstEvery,
		grant: messages.Grant{Path: want.Path}}
}

// ID is the request's id at the gateway that it is with now.
func (r *Requester) ID() string { return fmt.Sprintf("%s/%d", r.guid, r.attempt) }

// Holding tells whether the owner holds the lock as far as it has been told.
func (r *Requester) Holding() bool { return r.stage == held }

// State is where the request stands, as the owner knows it.
func (r *Requester) State() messages.State { return r.shown }

// Begin sends the request.
func (r *Requester) Begin(now Instant) []Output {
	r.begun, r.entered, r.heard = now, now, now
	return r.send(now)
}

// Due is when Wake is to be called at the latest.
func (r *Requester) Due() Instant {
	due := r.asked.plus(r.pace())
	if r.stage == held {
		due = min(due, r.deadline)
	}
	if r.stage == held && r.grace != 0 {
		due = min(due, r.grace)
	}
	return due
}

// pace is how often it sends.
func (r *Requester) pace() time.Duration {
	switch {
	case r.order >= Cancel:
		return orderedEvery
	case r.stage == held:
		return max(minEvery, min(r.every, r.lasts/4))
	case !r.accepted:
		return firstEvery
	}
	return max(minEvery, r.every)
}

// Wake does what is due.
func (r *Requester) Wake(now Instant) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	out := r.notice(now)
	switch {
	case r.stage == over:
		return nil
	case r.order >= Cancel && now >= r.latest():
		return append(out, r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonUnreachable,
			Detail: "no gateway has confirmed the end of the request"}, "Silent")...)
	case r.overdue(now):
		return append(out, r.Order(now, Cancel, messages.ReasonTimeout)...)
	case r.waits() && r.moves() && now >= r.heard.plus((missed+1)*r.pace()):
		return append(out, r.again(now, r.next(), "Silent")...)
	case now >= r.asked.plus(r.pace()):
		return append(out, r.send(now)...)
	}
	return out
}

// waits tells whether the request has not held, and is wanted.
func (r *Requester) waits() bool { return r.stage == before && r.order < Cancel }

// overdue tells whether a waiter's Acquire.Timeout has passed, and the gateway has not told of it.
func (r *Requester) overdue(now Instant) bool {
	return r.waits() && r.want.Timeout > 0 && now >= r.begun.plus(r.want.Timeout).plus(timeoutSlack)
}

// latest is when an order that nobody confirms ends the request.
func (r *Requester) latest() Instant { return max(r.told, r.heard).plus(r.patience()) }

// late ends the hold of a request whose lease has run out, or whose grace period is over. It comes
// before anything else: a process that was paused looks at the clock first.
func (r *Requester) late(now Instant) ([]Output, bool) {
	switch {
	case r.stage != held:
		return nil, false
	case r.grace != 0 && now >= r.grace && r.deadline >= r.grace:
		return r.forced(now), true
	case now >= r.deadline:
		return r.LeaseOver(now), true
	}
	return nil, false
}

// forced gives the lock back by force. The gateway does not do it sooner, for it cannot know that
// we do.
func (r *Requester) forced(now Instant) []Output {
	r.stage, r.order, r.reason, r.told = after, Cancel, messages.ReasonRevoked, now
	out := r.move(messages.StateReleasing, "GraceOver", messages.ReasonRevoked)
	out = append(out, EndLease{}, Say{Notice: &messages.Revoked{Grant: r.grant}})
	return append(out, r.send(now)...)
}

// Order takes what the owner wants. A smaller order than one before changes nothing.
func (r *Requester) Order(now Instant, o Order, why messages.Reason) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	switch {
	case r.stage == over || r.order >= Cancel:
		return nil
	case o == Revoke:
		if r.stage != held {
			return nil
		}
		r.order, r.revoke = Revoke, r.number+1
		return r.send(now)
	}
	r.order, r.reason, r.told = o, why, now
	if r.stage == held {
		// The lease clock goes on to its deadline, which bounds how long anybody waits for the end. Observers are told at
		// once, before the gateway can delete the node: the order may come from somebody else than the owner.
		r.stage = after
		on, usual := "Release", messages.ReasonReleased
		if o == Cancel {
			on, usual = "Cancel", messages.ReasonCancelled
		}
		return append(r.move(messages.StateReleasing, on, cmp.Or(why, usual)), r.send(now)...)
	}
	return r.send(now)
}

// send is one sending.
func (r *Requester) send(now Instant) []Output {
	r.number++
	r.asked = now
	r.sent = append(r.sent, sending{r.number, now})
	if len(r.sent) > keptSendings {
		r.sent = slices.Delete(r.sent, 0, 1)
	}
	q := Request{ID: r.ID(), Gateway: r.by, Number: r.number, Seen: r.seen, Order: r.order, Reason: r.reason}
	if !r.accepted {
		want := r.want
		if want.Timeout > 0 {
			want.Timeout = max(time.Millisecond, want.Timeout-now.since(r.begun))
		}
		q.Want = &want
	}
	return []Output{Send{r.gateway, q}}
}

// farewell tells the gateway that nobody wants to hear of the request any more.
func (r *Requester) farewell() Output {
	r.number++
	return Send{r.gateway, Request{ID: r.ID(), Gateway: r.by, Number: r.number, Seen: r.seen, Order: Cancel,
		Reason: r.reason, Over: true}}
}

// does says what is done on an event that the requester decides on itself, in the words of package
// machine.
var does = map[string]string{"Refused": "fail", "Closed": "fail", "Full": "fail",
	"Release": "give back, delete", "Cancel": "give back, delete", "GraceOver": "force, delete",
	"LeaseOver": "lose, clean up", "Silent": "suspend", "Found": "resume"}

// move tells a change of state that the requester has decided itself; none when it is there
// already, or has not begun.
func (r *Requester) move(to messages.State, on string, why messages.Reason) []Output {
	if r.shown == to || r.shown == messages.StateNone && to == messages.StateRecovering {
		return nil
	}
	t := &messages.Transition{Grant: r.grant, From: r.shown, To: to, On: on, Do: does[on], Reason: why}
	r.shown = to
	return []Output{Say{Notice: t}}
}
