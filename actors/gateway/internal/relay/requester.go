package relay

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Requester is one request on a node without a session. Make one with NewRequester; begin with
// Begin. After each call Due says when Wake is to be called at the latest.
type Requester struct {
	guid   string
	want   messages.Acquire
	places places
	begun  Instant

	stage   stage
	wish    newestWish
	hold    hold           // only while it holds
	shown   messages.State // as the owner knows it
	grant   messages.Grant
	trouble string // that the listener was told last

	try    attempt
	number uint64        // of the newest sending
	asked  uint64        // of the newest ask
	slow   time.Duration // the longest time between sendings that a gateway has asked for
	ghost  Instant       // when the newest attempt was left that may still be at a gateway; zero for none
}

// stage is the stage of a request on the requester's side.
type stage uint8

const (
	// before: its owner has not been told Held.
	before stage = iota
	// held: its owner has been told Held, and hold.deadline is in the future.
	held
	// after: it had the lock, and has it no more: given back, or revoked.
	after
	// over: the end was told.
	over
)

// How long a requester waits.
const (
	minEvery = 20 * time.Millisecond
	maxEvery = time.Hour
	// wishEvery is the time between sendings of a wish that the gateway has not carried out.
	wishEvery = 500 * time.Millisecond
	// missed is the number of unanswered sendings after which the owner is told.
	missed = 3
	// timeoutSlack is the time that the gateway, which counts Acquire.Timeout too, has to tell of
	// its end.
	timeoutSlack = time.Second
	// leastPatience is the shortest time for which an end is waited for.
	leastPatience = 5 * time.Second
)

// NewRequester makes a request. gateways is the number of gateways that it may go to. guid tells it
// from all others.
func NewRequester(guid string, gateways int, want messages.Acquire) *Requester {
	return &Requester{guid: guid, want: want, places: places{named: gateways}, try: newAttempt(0, 0),
		grant: messages.Grant{Path: want.Path}}
}

// ID is the request's id at the gateway that it is with now.
func (r *Requester) ID() string { return fmt.Sprintf("%s/%d", r.guid, r.try.index) }

// Holding reports whether the owner holds the lock as far as it has been told.
func (r *Requester) Holding() bool { return r.stage == held }

// State is the state of the request, as the owner knows it.
func (r *Requester) State() messages.State { return r.shown }

// Prefer says with which gateway to begin; without it, that is the first.
func (r *Requester) Prefer(gateway int) { r.places.now = gateway }

// Gateway is the gateway that the request is with, or goes to next.
func (r *Requester) Gateway() int { return r.places.now }

// Accepted reports whether that gateway has accepted it.
func (r *Requester) Accepted() bool { return r.try.accepted }

// Unpin lets the request go on elsewhere again.
func (r *Requester) Unpin() { r.places.pinned = false }

// Due is the time by which Wake must be called.
func (r *Requester) Due() Instant {
	due := r.try.asked.plus(r.pace())
	if r.stage == held {
		due = min(due, r.hold.due())
		if !r.try.silent {
			due = min(due, r.quiet())
		}
	}
	return due
}

// pace is the time between two sendings.
func (r *Requester) pace() time.Duration {
	switch {
	case r.wish.ends():
		return wishEvery
	case r.stage == held:
		return max(minEvery, min(r.try.every/3, r.hold.lasts/4))
	case !r.try.accepted:
		return firstEvery
	}
	return max(minEvery, r.try.every)
}

// quiet is the time at which the owner is told that nothing is heard.
func (r *Requester) quiet() Instant {
	if r.stage == held {
		return r.hold.fresh.plus(min(2*r.pace(), r.hold.lasts/2))
	}
	return r.try.heard.plus(missed * r.pace())
}

// patience is longer than any gateway takes to give up a silent request.
func (r *Requester) patience() time.Duration { return max(leastPatience, 4*r.slow) }

// SessionTimeout is the longest session timeout that a gateway has told; zero before the first
// reply.
func (r *Requester) SessionTimeout() time.Duration {
	if r.slow == 0 {
		return 0
	}
	return 2 * max(r.slow, minEvery)
}

// isWaiting reports whether the request has not held yet, and its owner still wants the lock.
func (r *Requester) isWaiting() bool { return r.stage == before && !r.wish.ends() }

// overdue reports whether a waiter's Acquire.Timeout has passed, and the gateway has not told of it.
func (r *Requester) overdue(now Instant) bool {
	return r.isWaiting() && r.want.Timeout > 0 && now >= r.begun.plus(r.want.Timeout).plus(timeoutSlack)
}

// latest is the time at which a wish that nobody confirms ends the request.
func (r *Requester) latest() Instant { return max(r.wish.at, r.try.heard).plus(r.patience()) }

// newestWish is the newest wish of the owner.
type newestWish struct {
	what   Wish
	why    messages.Reason
	at     Instant // when it was told
	revoke uint64  // the first sending that asks the lock back; zero for none
}

// ends reports whether the owner wants the request to end.
func (w *newestWish) ends() bool { return w.what >= Cancel }

// places are the gateways that a request may be at, by their numbers.
type places struct {
	named  int
	now    int  // the gateway that the request is at, or goes to next
	pinned bool // it must not go to another one: see Requester.Pin
	full   int  // that were full, in a row
}

// several reports whether there is another gateway to go to.
func (p *places) several() bool { return p.named > 1 && !p.pinned }

// next is the next gateway to go to; the present one where there is no other.
func (p *places) next() int {
	if !p.several() {
		return p.now
	}
	return (p.now + 1) % p.named
}
