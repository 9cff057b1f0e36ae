package relay

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// attempt is one try of a request, at one gateway, with an id of its own. It has all that is known
// of the request there.
type attempt struct {
	index    int     // attempts before it
	entered  Instant // when it began
	accepted bool    // by a gateway
	by       uint64  // which one; zero before
	since    uint64  // the newest sending then; it and earlier ones may have reached other gateways
	seen     uint64  // events taken in
	sent     sendings
	asked    Instant        // when the newest was sent
	heard    Instant        // when a reply came, or it began
	silent   bool           // the owner was told that nothing is heard
	there    messages.State // as the gateway's lock actor has told it
	every    time.Duration  // the time between sendings that the gateway wants
	said     Predecessor    // the newest predecessor that the gateway has named
	saidAt   uint64         // the newest event of the reply with said
	told     uint64         // the number of the predecessor that the listener knows; zero for none
}

// firstEvery is the time between sendings of a waiter until the gateway has told its own.
const firstEvery = 500 * time.Millisecond

func newAttempt(index int, now Instant) attempt {
	return attempt{index: index, entered: now, asked: now, heard: now, every: firstEvery}
}

// young reports whether it has just begun.
func (a *attempt) young(now Instant) bool { return now < a.entered.plus(firstEvery) }

// accept: a gateway has the request; newest is the newest sending.
func (a *attempt) accept(by, newest uint64) {
	if !a.accepted {
		a.since = newest
	}
	a.accepted, a.by = true, by
}

// refusedBy reports whether an answer that the request is unknown, or is not accepted, counts. An
// answer to a sending that did not name the accepting gateway may come from another gateway, or
// from before the acceptance. If it is true, a newer sending gets the same answer.
func (a *attempt) refusedBy(p Reply) bool { return !a.accepted || p.Number > a.since }

// sendings are the sendings whose replies may still count, in order.
type sendings []sending

type sending struct {
	number uint64
	at     Instant
}

// keptSendings bounds the sendings whose replies count.
const keptSendings = 64

func (s *sendings) add(number uint64, at Instant) {
	*s = append(*s, sending{number, at})
	if len(*s) > keptSendings {
		*s = slices.Delete(*s, 0, 1)
	}
}

// promised gives the end of the lease that a reply promises, zero for no promise, and the send time
// that the reply's durations count from.
func (s sendings) promised(p Reply) (until, sent Instant) {
	for _, s := range s {
		switch {
		case s.number != p.Number:
		case p.Lasts <= 0:
			return 0, s.at
		default:
			return s.at.plus(p.Lasts), s.at
		}
	}
	return 0, 0
}

// hold has the promises that the requester may rely on while it holds.
type hold struct {
	deadline Instant       // of the lease
	grace    Instant       // when the lock will be taken; zero for never
	lasts    time.Duration // as last told
	fresh    Instant       // sending time of the newest reply with a promise, of which no event is missing

	cut       bool              // the gateway's lock actor has told Suspended, and not Resumed
	suspended bool              // the owner was told Suspended, and not Resumed
	watched   *messages.Watched // what is told once after Held and each Resumed; nil while it is not known
	asks      Asks              // that are not answered
}

// due is the time of the next end by itself: of the lease or of the grace period.
func (h *hold) due() Instant {
	if h.grace != 0 {
		return min(h.deadline, h.grace)
	}
	return h.deadline
}

// renew takes a promise, and reports whether it is the longest one.
func (h *hold) renew(until Instant) (longer bool) {
	longer = until > h.deadline
	h.deadline = max(h.deadline, until)
	return longer
}

// freshen notes a promise in a reply of which no event is missing.
func (h *hold) freshen(now, until, sent Instant, lasts time.Duration) {
	if until > now && sent >= h.fresh {
		h.fresh, h.lasts = sent, lasts
	}
}
