package relay

import (
	"cmp"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// What the requester does by itself, in package machine's words: ends names it by the state that ends the request, does by
// the event where the request goes on.
var (
	ends = map[messages.State]string{messages.StateFailed: "fail", messages.StateLost: "lose"}
	does = map[string]string{"Refused": "create again", "Closed": "create again", "Full": "create again",
		"Release": "give back, delete", "Cancel": "give back, delete", "GraceOver": "force, delete",
		"Silent": "suspend", "Found": "resume"}
)

// move tells a change of state that the requester has decided itself; none when it is there
// already, or has not begun.
func (r *Requester) move(to messages.State, on string, why messages.Reason) []Output {
	if r.shown == to || r.shown == messages.StateNone && to == messages.StateRecovering {
		return nil
	}
	t := &messages.Transition{Grant: r.grant, From: r.shown, To: to, On: on, Do: cmp.Or(ends[to], does[on]), Reason: why}
	r.shown = to
	return []Output{Say{Notice: t}}
}

// troubled tells the listener the obstacle to the request, when that has changed.
func (r *Requester) troubled(text string) []Output {
	if r.trouble == text {
		return nil
	}
	r.trouble = text
	return []Output{Trouble{text}}
}

// waitsFor takes the predecessor in a reply, and tells the listener if it is new. It is told once
// all events of the reply have been taken in: one of them may say that the request began anew,
// behind another contender.
func (r *Requester) waitsFor(p Reply) []Output {
	a := &r.try
	if p.ID != r.ID() || !r.isWaiting() { // an event has ended the attempt, or the wait
		return nil
	}
	if p.Predecessor != nil && p.Predecessor.Number > a.said.Number {
		a.said, a.saidAt = *p.Predecessor, p.First+uint64(len(p.Events))-1
	}
	if a.said.Number == a.told || a.saidAt > a.seen {
		return nil
	}
	a.told = a.said.Number
	return []Output{WaitFor{a.said.Contender}}
}

// send is one sending.
func (r *Requester) send(now Instant) []Output {
	r.number++
	r.try.asked = now
	r.try.sent.add(r.number, now)
	q := Request{ID: r.ID(), Gateway: r.try.by, Number: r.number, Seen: r.try.seen,
		Wish: r.wish.what, Reason: r.wish.why}
	if r.stage == held {
		q.Asks = r.hold.asks
	}
	if !r.try.accepted {
		want := r.want
		if want.Timeout > 0 {
			want.Timeout = max(time.Millisecond, want.Timeout-now.since(r.begun))
		}
		q.Want = &want
	}
	return []Output{Send{r.places.now, q}}
}

// farewell tells the gateway that the attempt is over and wants no reply.
func (r *Requester) farewell() Output {
	r.number++
	return Send{r.places.now, Request{ID: r.ID(), Gateway: r.try.by, Number: r.number, Seen: r.try.seen, Wish: Cancel,
		Reason: r.wish.why, Over: true}}
}
