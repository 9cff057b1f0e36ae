package relay

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// Reply takes what a gateway says.
func (r *Requester) Reply(now Instant, p Reply) []Output {
	if out, ended := r.late(now); ended {
		return out
	}
	var out []Output
	if r.overdue(now) { // replies may come so often that Wake never does
		out = r.Order(now, Cancel, messages.ReasonTimeout)
	}
	return append(out, r.reply(now, p)...)
}

func (r *Requester) reply(now Instant, p Reply) []Output {
	switch {
	case r.stage == over:
		return nil
	case p.Standing == Known && (p.ID != r.ID() || r.by != 0 && p.Gateway != r.by):
		// It is of an attempt that was left, or a sending that was delayed has come to another
		// gateway.
		r.number++
		return []Output{Dismiss{Request{ID: p.ID, Gateway: p.Gateway, Number: r.number, Order: Cancel, Over: true}}}
	case p.ID != r.ID():
		return nil
	case p.Standing != Known && r.accepted && p.Number <= r.since:
		// It answers a sending that does not name the gateway that has accepted the request. Another one may have had
		// it, or this one earlier. If it is true, a newer sending is answered so, too.
		return nil
	}
	switch p.Standing {
	case Refused:
		return r.refused(p)
	case Full:
		return r.full(now, p)
	case Closing:
		return r.closing(now)
	case Unknown:
		return r.unknown(now)
	}
	return r.known(now, p)
}

// refused ends a request that the gateway cannot carry out.
func (r *Requester) refused(p Reply) []Output {
	if r.stage == held {
		return r.lose(0, messages.ReasonRefused, p.Detail, "Refused")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonRefused, Detail: p.Detail}, "Refused")
}

// closing leaves a gateway that takes no more requests, for the next one where there is one.
func (r *Requester) closing(now Instant) []Output {
	switch {
	case !r.waits():
		return r.unknown(now)
	case r.gateways > 1:
		return r.again(now, r.next(), "Closed")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonUnreachable, Detail: closed}, "Closed")
}

// full leaves a gateway that takes no more requests now for the next one, until each has said so.
func (r *Requester) full(now Instant, p Reply) []Output {
	if !r.waits() {
		return nil
	}
	if r.refusals++; r.moves() && r.refusals < r.gateways {
		return r.again(now, r.next(), "Full")
	}
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonGatewayFull, Detail: p.Detail}, "Full")
}

// unknown takes it that the gateway has nothing of the request, or nothing any more.
func (r *Requester) unknown(now Instant) []Output {
	switch {
	case r.stage == held:
		return r.lose(now, messages.ReasonHoldGone, "the gateway does not know the request any more", "Closed")
	case r.stage == after:
		return r.finish(&messages.Released{Grant: r.grant, Reason: cmp.Or(r.reason, messages.ReasonReleased)}, "Left")
	case r.order >= Cancel:
		return r.finish(&messages.Cancelled{Grant: r.grant, Reason: cmp.Or(r.reason, messages.ReasonCancelled)}, "Left")
	}
	return r.again(now, r.gateway, "Expired")
}

// known takes what the gateway says of the request.
func (r *Requester) known(now Instant, p Reply) []Output {
	if !r.accepted {
		r.since = r.number
	}
	r.accepted, r.by, r.refusals = true, p.Gateway, 0
	r.heard = now
	if p.Every > 0 {
		r.every = min(p.Every, maxEvery)
		r.slow = max(r.slow, r.every)
	}
	if r.order == Revoke && r.revoke != 0 && p.Number >= r.revoke {
		r.order, r.revoke = Keep, 0
	}
	until, sent := r.promised(p)
	var out []Output
	if r.stage == held && until > now && sent >= r.fresh {
		r.fresh, r.lasts = sent, p.Lasts
	}
	if r.stage == held && until > r.deadline {
		r.deadline = until
		out = append(out, Extend{until})
	}
	if until > now || r.stage != held {
		out = append(out, r.resume()...)
	}
	return append(out, r.takeIn(now, p, until, sent)...)
}

// promised gives until when a reply promises the lease, zero for not at all, and when the sending
// was sent that the durations in it count from.
func (r *Requester) promised(p Reply) (until, sent Instant) {
	for _, s := range r.sent {
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

// takeIn takes the events of a reply that are new.
func (r *Requester) takeIn(now Instant, p Reply, until, sent Instant) []Output {
	var out []Output
	for i, ev := range p.Events {
		number := p.First + uint64(i)
		switch {
		case number <= r.seen:
			continue
		case number > r.seen+1: // something was lost
			return append(out, r.send(now)...)
		case r.begins(ev.Notice) && until <= now:
			return append(out, r.withoutPromise(now, p)...)
		}
		r.seen = number
		out = append(out, r.take(ev, until, sent)...)
		if r.stage == over {
			return out
		}
	}
	return out
}

// begins tells whether an event lets the lock be held: it needs a promise.
func (r *Requester) begins(notice any) bool {
	if !r.waits() {
		return false
	}
	switch n := notice.(type) {
	case *messages.Transition:
		return n.To == messages.StateHeld
	case *messages.Held:
		return true
	}
	return false
}

// withoutPromise is what to do when the lock is granted and no promise is left of it: ask for one,
// or begin anew when the gateway has lost the lock meanwhile. A gateway that closes, or that is cut
// from the servers, answers each sending without one: so Wake sends while the newest is young.
func (r *Requester) withoutPromise(now Instant, p Reply) []Output {
	if _, ended := terminal(p.Events[len(p.Events)-1].Notice); ended {
		return r.again(now, r.gateway, "Expired")
	}
	r.every = min(r.every, firstEvery)
	if p.Number < r.number || now < r.asked.plus(r.pace()) { // a newer sending is under way, or soon
		return nil
	}
	return r.send(now)
}

// take takes one event in.
func (r *Requester) take(ev Event, until, sent Instant) []Output {
	switch n := ev.Notice.(type) {
	case *messages.Transition:
		return r.transition(n)
	case *messages.Held:
		if !r.waits() {
			return nil
		}
		r.stage, r.grant = held, n.Grant
		r.deadline, r.lasts, r.fresh = until, until.since(sent), sent
		return []Output{Extend{until}, Say{Notice: n}}
	case *messages.Suspended, *messages.Resumed: // the owner may have given the lock back meanwhile
		if r.stage == before {
			return nil
		}
		return []Output{Say{Notice: n}}
	case *messages.RevokeRequested:
		if r.stage == before {
			return nil
		}
		if ev.In > 0 { // a promise is cut off there, a hundredth early
			r.grace = sent.plus(ev.In - ev.In/(margin/2))
		}
		return []Output{Say{Notice: n, Deadline: r.grace}}
	case *messages.Revoked:
		if r.stage != held {
			return nil
		}
		r.stage = after
		return []Output{EndLease{}, Say{Notice: n}}
	case *messages.Deadlocked:
		return []Output{Say{Notice: n}}
	}
	return r.end(ev.Notice)
}

// transition shows a change of state of the gateway's lock actor. One that leads into the state in
// which the owner believes the request, and one to the hold of a request that has been given up, is
// passed over.
func (r *Requester) transition(n *messages.Transition) []Output {
	r.there, r.grant = n.To, n.Grant
	shown := *n
	shown.From = r.shown
	hides := r.order >= Cancel && r.stage == before
	switch {
	case shown.From == shown.To && n.From != n.To:
		return nil
	case hides && (n.To == messages.StateHeld || n.To == messages.StateRevoking):
		return nil
	case hides && n.To == messages.StateReleased:
		shown.To = messages.StateCancelled
	case n.To.Terminal() && r.restarts(n.To, n.Reason):
		return nil
	}
	r.shown, shown.Reason = shown.To, here(shown.Reason)
	return []Output{Say{Notice: &shown}}
}

// restarts tells whether an end at the gateway is none for the owner: the gateway gave up a waiter
// that it had not heard of, or is closing and there is another one, or still has an earlier attempt
// of the same owner's.
func (r *Requester) restarts(end messages.State, why messages.Reason) bool {
	if !r.waits() {
		return false
	}
	switch {
	case end == messages.StateCancelled && why == messages.ReasonOwnerGone, r.haunted(end, why):
		return true
	case end == messages.StateCancelled || end == messages.StateFailed:
		return why == messages.ReasonSessionClosed && r.gateways > 1
	}
	return false
}

// haunted tells whether the request fails for what may be its own earlier attempt. That is there
// for as long as its session is out of reach.
func (r *Requester) haunted(end messages.State, why messages.Reason) bool {
	return end == messages.StateFailed && (why == messages.ReasonReentry || why == messages.ReasonUpgrade) &&
		r.attempt > 0 && (r.alone || r.heard < r.ghost)
}

// end takes the end of the gateway's lock actor.
func (r *Requester) end(notice any) []Output {
	to, is := terminal(notice)
	why := reasonOf(notice)
	switch {
	case !is:
		return nil
	case r.restarts(to, why) && r.haunted(to, why):
		return r.leave(r.heard, r.gateway, "Refused")
	case r.restarts(to, why) && why == messages.ReasonSessionClosed:
		return r.again(r.heard, r.next(), "Closed")
	case r.restarts(to, why):
		return r.again(r.heard, r.gateway, "Closed")
	case to == messages.StateReleased && r.stage == before:
		notice = &messages.Cancelled{Grant: r.grant, Reason: cmp.Or(why, messages.ReasonCancelled)}
	case to == messages.StateReleased && r.stage == held: // nobody had asked for it: it was revoked, or taken away
		return r.finish(&messages.Lost{Grant: r.grant, Reason: here(why)}, "Left")
	}
	return r.finish(abroad(notice), "Left")
}
