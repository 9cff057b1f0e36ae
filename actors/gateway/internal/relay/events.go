package relay

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// takeIn takes the events of a reply that are new.
func (r *Requester) takeIn(now Instant, p Reply, until, sent Instant) []Output {
	var out []Output
	for i, ev := range p.Events {
		number := p.First + uint64(i)
		switch {
		case number <= r.try.seen:
			continue
		case number > r.try.seen+1: // something was lost
			return append(out, r.send(now)...)
		case r.begins(ev.Notice) && until <= now:
			return append(out, r.withoutPromise(now, p)...)
		}
		r.try.seen = number
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
		return r.again(now, r.places.now, "Expired")
	}
	r.try.every = min(r.try.every, firstEvery)
	if p.Number < r.number || now < r.try.asked.plus(r.pace()) { // a newer sending is under way, or soon
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
		r.hold.deadline, r.hold.lasts, r.hold.fresh = until, until.since(sent), sent
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
			r.hold.grace = sent.plus(ev.In - ev.In/(margin/2))
		}
		return []Output{Say{Notice: n, Deadline: r.hold.grace}}
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
	r.try.there, r.grant = n.To, n.Grant
	shown := *n
	shown.From = r.shown
	hides := r.ordered.ends() && r.stage == before
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
		return why == messages.ReasonSessionClosed && r.places.named > 1
	}
	return false
}

// haunted tells whether the request fails for what may be its own earlier attempt. That is there
// for as long as its session is out of reach.
func (r *Requester) haunted(end messages.State, why messages.Reason) bool {
	return end == messages.StateFailed && (why == messages.ReasonReentry || why == messages.ReasonUpgrade) &&
		r.try.index > 0 && (r.alone || r.try.heard < r.ghost)
}

// end takes the end of the gateway's lock actor.
func (r *Requester) end(notice any) []Output {
	to, is := terminal(notice)
	why := reasonOf(notice)
	switch {
	case !is:
		return nil
	case r.restarts(to, why) && r.haunted(to, why):
		return r.leave(r.try.heard, r.places.now, "Refused")
	case r.restarts(to, why) && why == messages.ReasonSessionClosed:
		return r.again(r.try.heard, r.places.next(), "Closed")
	case r.restarts(to, why):
		return r.again(r.try.heard, r.places.now, "Closed")
	case to == messages.StateReleased && r.stage == before:
		notice = &messages.Cancelled{Grant: r.grant, Reason: cmp.Or(why, messages.ReasonCancelled)}
	case to == messages.StateReleased && r.stage == held: // nobody had asked for it: it was revoked, or taken away
		return r.finish(&messages.Lost{Grant: r.grant, Reason: here(why)}, "Left")
	}
	return r.finish(abroad(notice), "Left")
}
