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

// begins reports whether an event lets the lock be held: it needs a promise.
func (r *Requester) begins(notice any) bool {
	if !r.isWaiting() {
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

// withoutPromise takes a grant whose promise has run out. It asks for a new promise, or begins anew
// when the gateway has lost the lock meanwhile. A gateway that closes, or is cut from the servers,
// answers each sending without a promise, so the next sending is left to Wake while the newest is
// young.
func (r *Requester) withoutPromise(now Instant, p Reply) []Output {
	if to, _ := messages.EndOf(p.Events[len(p.Events)-1].Notice); to.Terminal() {
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
		if !r.isWaiting() {
			return nil
		}
		r.stage, r.grant = held, n.Grant
		r.hold.deadline, r.hold.lasts, r.hold.fresh = until, until.since(sent), sent
		r.hold.watched = nil
		return []Output{Extend{until}, Say{Notice: n}}
	case *messages.Suspended:
		r.hold.cut = true
		r.hold.watched = nil
		return r.suspended()
	case *messages.Resumed:
		r.hold.cut = false
		return r.resumed()
	case *messages.Waiting:
		if !r.isWaiting() {
			return nil
		}
		told := *n
		if r.mayHaunt() { // each earlier attempt may have a node
			told.Before = max(0, n.Before-r.try.index)
		}
		return []Output{Say{Notice: &told}}
	case *messages.Watched:
		r.hold.watched = n
		return r.watched()
	case *messages.Contended, *messages.Checked:
		return r.answered(ev)
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

// transition shows a change of state of the gateway's lock actor. It drops a change to the state
// that the owner has been shown already, and the hold of a request that has been given up.
func (r *Requester) transition(n *messages.Transition) []Output {
	r.try.there, r.grant = n.To, n.Grant
	shown := *n
	shown.From = r.shown
	hides := r.wish.ends() && r.stage == before
	switch {
	case shown.From == shown.To && n.From != n.To:
		return nil
	case r.stage == held && r.try.silent && n.To != messages.StateReleasing && !n.To.Terminal(): // resume shows it
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

// restarts reports whether the request goes on after an end at the gateway: the gateway gave up a
// waiter that it no longer heard, or is closing and another one is named, or the queue may be full
// with an earlier attempt.
func (r *Requester) restarts(end messages.State, why messages.Reason) bool {
	if !r.isWaiting() {
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

// haunted reports whether the request may be refused because of its own earlier attempt, whose node
// stays in the queue while its gateway's session is out of reach. A queue may be full without that
// node, so ReasonQueueFull counts once the attempt must be gone.
func (r *Requester) haunted(end messages.State, why messages.Reason) bool {
	return end == messages.StateFailed && r.try.index > 0 && why == messages.ReasonQueueFull && r.mayHaunt()
}

// mayHaunt reports whether an earlier attempt may still be at a gateway.
func (r *Requester) mayHaunt() bool { return r.ghost != 0 && r.try.heard < r.ghost.plus(r.patience()) }

// end takes the end of the gateway's lock actor.
func (r *Requester) end(notice any) []Output {
	to, why := messages.EndOf(notice)
	switch {
	case !to.Terminal():
		return nil
	case r.restarts(to, why) && r.haunted(to, why):
		return r.leave(r.try.heard, r.places.now, "Refused")
	case r.restarts(to, why) && why == messages.ReasonSessionClosed:
		return r.again(r.try.heard, r.places.next(), "Closed")
	case r.restarts(to, why):
		return r.again(r.try.heard, r.places.now, "Closed")
	case to == messages.StateReleased && r.stage == before:
		notice = &messages.Cancelled{Grant: r.grant, Reason: cmp.Or(why, messages.ReasonCancelled)}
	case to == messages.StateReleased && r.stage == held: // its owner had not released it: it was revoked, or taken away
		return r.finish(&messages.Lost{Grant: r.grant, Reason: here(why)}, "Left")
	}
	return r.finish(asUnreachable(notice), "Left")
}

// closed is the detail of an end that the end of a gateway has caused.
const closed = "the gateway is closed"

// here translates a reason that a gateway gives. ReasonSessionClosed is about the gateway's
// session. Passed on, it would say that this program has closed its own side, after which nothing
// is tried again.
func here(why messages.Reason) messages.Reason {
	if why == messages.ReasonSessionClosed {
		return messages.ReasonUnreachable
	}
	return why
}

// asUnreachable translates the end of a request likewise: where the gateway's session was closed,
// the lock is out of reach.
func asUnreachable(notice any) any {
	if _, why := messages.EndOf(notice); why != messages.ReasonSessionClosed {
		return notice
	}
	switch n := notice.(type) {
	case *messages.Lost:
		return &messages.Lost{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	case *messages.Cancelled:
		return &messages.Cancelled{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: n.Detail}
	case *messages.Failed:
		return &messages.Failed{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	}
	return notice
}

// late ends the hold of a request whose lease has run out, or whose grace period is over. It comes
// before anything else: a process that was paused looks at the clock first.
func (r *Requester) late(now Instant) ([]Output, bool) {
	switch {
	case r.stage != held:
		return nil, false
	case r.hold.grace != 0 && now >= r.hold.grace && r.hold.deadline >= r.hold.grace:
		return r.forced(now), true
	case now >= r.hold.deadline:
		return r.LeaseOver(now), true
	}
	return nil, false
}

// forced gives the lock back by force. The gateway takes it no sooner, because it cannot know that
// this end gives it back.
func (r *Requester) forced(now Instant) []Output {
	r.stage, r.wish.what, r.wish.why, r.wish.at = after, Cancel, messages.ReasonRevoked, now
	out := r.move(messages.StateReleasing, "GraceOver", messages.ReasonRevoked)
	out = append(out, EndLease{}, Say{Notice: &messages.Revoked{Grant: r.grant}})
	return append(out, r.send(now)...)
}

// LeaseOver ends the hold of a request whose lease clock has a gap that no promise accounts for: the
// process was paused between a look at the clock and an extension.
func (r *Requester) LeaseOver(now Instant) []Output {
	if r.stage != held {
		return nil
	}
	return r.lose(messages.ReasonLeaseOver, "the gateway has not renewed it", "LeaseOver")
}

// finish ends the request: it tells the change of state, unless the gateway has, then the end, and
// takes leave of the gateway.
func (r *Requester) finish(notice any, on string) []Output {
	to, why := messages.EndOf(notice)
	out := append([]Output{EndLease{}}, r.move(to, on, why)...)
	r.stage = over
	out = append(out, Say{Notice: notice})
	if r.number > 0 {
		out = append(out, r.farewell())
	}
	return append(out, End{})
}

// lose ends a request that holds.
func (r *Requester) lose(why messages.Reason, detail, on string) []Output {
	return r.finish(&messages.Lost{Grant: r.grant, Reason: why, Detail: detail}, on)
}

// again begins the request anew, with a new id, at the same gateway or another. If the attempt that
// it leaves has just begun, the next sending is left to Wake: otherwise the request would bounce
// between two closing gateways at the speed of the network.
func (r *Requester) again(now Instant, at int, on string) []Output {
	if r.try.accepted || len(r.try.sent) > 1 || on != "Closed" && on != "Full" { // otherwise its only sending was not accepted
		r.ghost = now
	}
	young := r.try.young(now)
	out := r.leave(now, at, on)
	if young {
		return out
	}
	return append(out, r.send(now)...)
}

// leave ends this attempt and begins the next one, without sending it.
func (r *Requester) leave(now Instant, at int, on string) []Output {
	out := append([]Output{r.farewell()}, r.move(messages.StateRecovering, on, messages.ReasonNone)...)
	out = append(out, r.troubled("")...) // it was the trouble of the attempt that is left
	if r.try.told > 0 {
		out = append(out, WaitFor{})
	}
	r.places.now = at
	r.grant = messages.Grant{Path: r.want.Path}
	r.try = newAttempt(r.try.index+1, now)
	return out
}
