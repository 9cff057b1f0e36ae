package relay

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// refused ends a request that the gateway cannot carry out.
func (r *Requester) refused(p Reply) []Output {
	if r.stage == held {
		return r.lose(messages.ReasonRefused, p.Detail, "Refused")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonRefused, Detail: p.Detail}, "Refused")
}

// closing leaves a gateway that takes no more requests, for the next one where there is one.
func (r *Requester) closing(now Instant) []Output {
	switch {
	case !r.waits():
		return r.unknown(now)
	case r.places.named > 1:
		return r.again(now, r.places.next(), "Closed")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonUnreachable, Detail: closed}, "Closed")
}

// full leaves a gateway that takes no more requests now for the next one, until each has said so.
func (r *Requester) full(now Instant, p Reply) []Output {
	if !r.waits() {
		return nil
	}
	if r.places.full++; r.places.several() && r.places.full < r.places.named {
		return r.again(now, r.places.next(), "Full")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonGatewayFull, Detail: p.Detail}, "Full")
}

// unknown takes it that the gateway has nothing of the request, or nothing any more.
func (r *Requester) unknown(now Instant) []Output {
	switch {
	case r.stage == held:
		return r.lose(messages.ReasonHoldGone, "the gateway does not know the request any more", "Closed")
	case r.stage == after:
		return r.finish(&messages.Released{Grant: r.grant, Reason: cmp.Or(r.ordered.why, messages.ReasonReleased)}, "Left")
	case r.ordered.ends():
		return r.finish(&messages.Cancelled{Grant: r.grant, Reason: cmp.Or(r.ordered.why, messages.ReasonCancelled)}, "Left")
	}
	return r.again(now, r.places.now, "Expired")
}
