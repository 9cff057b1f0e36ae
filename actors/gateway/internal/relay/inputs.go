package relay

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// Begin sends the request.
func (r *Requester) Begin(now Instant) []Output {
	r.begun, r.try.entered, r.try.heard = now, now, now
	return r.send(now)
}

// Refuse ends a request that is not well formed, before anything is sent.
func (r *Requester) Refuse(detail string) []Output {
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonBadInput, Detail: detail}, "Refused")
}

// Wake sends the request, moves it to the next gateway, or ends it, when the time for that has
// come.
func (r *Requester) Wake(now Instant) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	out := r.notice(now)
	switch {
	case r.stage == over:
		return nil
	case r.wish.ends() && now >= r.latest():
		return append(out, r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonUnreachable,
			Detail: "no gateway has confirmed the end of the request"}, "Silent")...)
	case r.overdue(now):
		return append(out, r.Wish(now, Cancel, messages.ReasonTimeout)...)
	case r.isWaiting() && r.places.several() && now >= r.try.heard.plus((missed+1)*r.pace()):
		return append(out, r.again(now, r.places.next(), "Silent")...)
	case now >= r.try.asked.plus(r.pace()):
		return append(out, r.send(now)...)
	}
	return out
}

// Wish takes a wish of the owner. A smaller wish than one before changes nothing.
func (r *Requester) Wish(now Instant, w Wish, why messages.Reason) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	switch {
	case r.stage == over || r.wish.ends():
		return nil
	case w == Revoke:
		if r.stage != held {
			return nil
		}
		r.wish.what, r.wish.revoke = Revoke, r.number+1
		return r.send(now)
	}
	r.wish.what, r.wish.why, r.wish.at = w, why, now
	if r.stage == held {
		// The lease clock goes on to its deadline, which bounds how long anybody waits for the end. Observers are told at
		// once, before the gateway can delete the node: somebody else than the owner may have asked for the end.
		r.stage = after
		on, usual := "Release", messages.ReasonReleased
		if w == Cancel {
			on, usual = "Cancel", messages.ReasonCancelled
		}
		return append(r.move(messages.StateReleasing, on, cmp.Or(why, usual)), r.send(now)...)
	}
	return r.send(now)
}

// Pin keeps a waiting request at the gateway by which its owner holds the lock, and moves it there
// if it is elsewhere. No other gateway knows of that hold, so the owner would wait for itself
// there.
func (r *Requester) Pin(now Instant, gateway int) []Output {
	if !r.isWaiting() {
		return nil
	}
	r.places.pinned = true
	if r.places.now == gateway {
		return nil
	}
	return r.again(now, gateway, "Moved")
}

// Reply takes the reply of a gateway.
func (r *Requester) Reply(now Instant, p Reply) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	var out []Output
	if r.overdue(now) { // replies may come so often that Wake never does
		out = r.Wish(now, Cancel, messages.ReasonTimeout)
	}
	return append(out, r.reply(now, p)...)
}

func (r *Requester) reply(now Instant, p Reply) []Output {
	switch {
	case r.stage == over:
		return nil
	case p.Acceptance == Known && (p.ID != r.ID() || r.try.by != 0 && p.Gateway != r.try.by):
		// The reply is for an attempt that was left, or another gateway has received a delayed
		// sending.
		r.number++
		return []Output{Dismiss{Request{ID: p.ID, Gateway: p.Gateway, Number: r.number, Wish: Cancel, Over: true}}}
	case p.ID != r.ID():
		return nil
	case p.Acceptance != Known && !r.try.refusedBy(p):
		return nil
	}
	switch p.Acceptance {
	case Refused:
		return r.refuse(p.Detail)
	case Full:
		return r.full(now, p)
	case Closing:
		return r.closing(now)
	case Unknown:
		return r.unknown(now)
	}
	return r.known(now, p)
}

// known takes the reply of the gateway that has accepted the request.
func (r *Requester) known(now Instant, p Reply) []Output {
	r.try.accept(p.Gateway, r.number)
	r.places.full = 0
	r.try.heard = now
	if p.Every > 0 {
		r.try.every = min(p.Every, maxEvery)
		r.slow = max(r.slow, r.try.every)
	}
	if r.wish.what == Revoke && r.wish.revoke != 0 && p.Number >= r.wish.revoke {
		r.wish.what, r.wish.revoke = Keep, 0
	}
	until, sent := r.try.sent.promised(p)
	out := r.troubled(p.Detail)
	if r.stage == held && r.hold.renew(until) {
		out = append(out, Extend{until})
	}
	if r.stage != held {
		out = append(out, r.resume()...)
	}
	out = append(out, r.takeIn(now, p, until, sent)...)
	if r.stage == held && p.First+uint64(len(p.Events)) <= r.try.seen+1 { // no event is missing
		r.hold.freshen(now, until, sent, p.Lasts)
		if now < r.quiet() {
			out = append(out, r.resume()...)
		}
	}
	return append(out, r.waitsFor(p)...)
}

// Ask passes an ask of the owner on. It is void while the hold is suspended, as for a local lock
// actor, and where the gateway's lock actor does not tell more.
func (r *Requester) Ask(now Instant, what Ask) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	if r.stage != held || r.hold.suspended || !r.want.TellMore {
		return nil
	}
	r.asked++
	r.hold.asks[what] = r.asked
	return r.send(now)
}

// Afterwards answers a reply that arrives after its requester has ended. A delayed sending has
// begun the request anew, at a gateway that does not know of its end, or the farewell was lost:
// without an answer the lock would be held for nobody. An id is never used again, so the answer is
// right whenever the reply comes.
func Afterwards(p Reply) []Output {
	if p.Acceptance != Known {
		return nil
	}
	return []Output{Dismiss{Request{ID: p.ID, Gateway: p.Gateway, Number: p.Number + 1, Wish: Cancel, Over: true}}}
}

// Garbled ends a request whose reply this program cannot read.
func (r *Requester) Garbled(detail string) []Output {
	if r.stage == over {
		return nil
	}
	return r.refuse(detail)
}

// Close ends the request because the program closes its side.
func (r *Requester) Close() []Output {
	switch r.stage {
	case over:
		return nil
	case held:
		return r.finish(&messages.Lost{Grant: r.grant, Reason: messages.ReasonSessionClosed}, "Closed")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonSessionClosed}, "Closed")
}

// Stop ends the request without a word to its owner: its actor is being stopped.
func (r *Requester) Stop(now Instant) []Output {
	if r.stage == over {
		return nil
	}
	r.stage = over
	return []Output{EndLease{}, r.farewell()}
}

// refuse ends a request that the gateway cannot carry out.
func (r *Requester) refuse(detail string) []Output {
	if r.stage == held {
		return r.lose(messages.ReasonRefused, detail, "Refused")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonRefused, Detail: detail}, "Refused")
}

// closing leaves a gateway that takes no more requests, for the next one where there is one.
func (r *Requester) closing(now Instant) []Output {
	switch {
	case !r.isWaiting():
		return r.unknown(now)
	case r.places.named > 1:
		return r.again(now, r.places.next(), "Closed")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonUnreachable, Detail: closed}, "Closed")
}

// full leaves a gateway that takes no more requests now for the next one, until each has said so.
func (r *Requester) full(now Instant, p Reply) []Output {
	if !r.isWaiting() {
		return nil
	}
	if r.places.full++; r.places.several() && r.places.full < r.places.named {
		return r.again(now, r.places.next(), "Full")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonGatewayFull, Detail: p.Detail}, "Full")
}

// unknown: the gateway does not have the request, or not any more.
func (r *Requester) unknown(now Instant) []Output {
	switch {
	case r.stage == held:
		return r.lose(messages.ReasonHoldGone, "the gateway does not know the request any more", "Closed")
	case r.stage == after:
		return r.finish(&messages.Released{Grant: r.grant, Reason: cmp.Or(r.wish.why, messages.ReasonReleased)}, "Left")
	case r.wish.ends():
		return r.finish(&messages.Cancelled{Grant: r.grant, Reason: cmp.Or(r.wish.why, messages.ReasonCancelled)}, "Left")
	}
	return r.again(now, r.places.now, "Expired")
}

// notice tells the owner that the gateway is silent.
func (r *Requester) notice(now Instant) []Output {
	if r.try.silent || now < r.quiet() || r.wish.ends() {
		return nil
	}
	r.try.silent = true
	if r.shown == messages.StateReleasing {
		return nil
	}
	return append(r.move(messages.StateRecovering, "Silent", messages.ReasonNone), r.suspended()...)
}

// resume tells the owner that the gateway answers again, and where its lock actor stands by then.
func (r *Requester) resume() (out []Output) {
	if !r.try.silent {
		return nil
	}
	r.try.silent = false
	there := r.try.there
	if r.shown == messages.StateRecovering && there != messages.StateRecovering && there != messages.StateNone {
		out = r.move(there, "Found", messages.ReasonNone)
	}
	return append(out, r.resumed()...)
}
