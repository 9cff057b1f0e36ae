package relay

import "github.com/turnstile-locks/turnstile/messages"

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

// Garbled ends a request of which the gateway says what this program does not know.
func (r *Requester) Garbled(detail string) []Output {
	if r.stage == over {
		return nil
	}
	return r.refused(Reply{Detail: detail})
}

// Stop ends the request without a word to its owner: its actor is being stopped.
func (r *Requester) Stop(now Instant) []Output {
	if r.stage == over {
		return nil
	}
	r.stage = over
	return []Output{EndLease{}, r.farewell()}
}

// LeaseOver ends the hold of a request whose lease clock has a gap that no promise accounts for: the
// process was paused between a look at the clock and an extension.
func (r *Requester) LeaseOver(now Instant) []Output {
	if r.stage != held {
		return nil
	}
	return r.lose(now, messages.ReasonLeaseOver, "the gateway has not renewed it", "LeaseOver")
}

// lose ends a request that holds.
func (r *Requester) lose(_ Instant, why messages.Reason, detail, on string) []Output {
	return r.finish(&messages.Lost{Grant: r.grant, Reason: why, Detail: detail}, on)
}

// finish tells the end, with the change of state that leads to it where the gateway has not told
// that.
func (r *Requester) finish(notice any, on string) []Output {
	to, _ := terminal(notice)
	out := append([]Output{EndLease{}}, r.move(to, on, reasonOf(notice))...)
	r.stage = over
	out = append(out, Say{Notice: notice})
	if r.number > 0 {
		out = append(out, r.farewell())
	}
	return append(out, End{})
}

// Refuse ends a request that is not well formed, before anything is sent.
func (r *Requester) Refuse(detail string) []Output {
	return r.finish(&messages.Failed{Grant: r.grant, Reason: messages.ReasonBadInput, Detail: detail}, "Refused")
}

// closed is the detail of an end that comes of the end of a gateway.
const closed = "the gateway is closed"

// here gives a reason that a gateway tells as it is told here: that its session was closed would
// mean here that this program has closed its own side, after which nothing is to be tried again.
func here(why messages.Reason) messages.Reason {
	if why == messages.ReasonSessionClosed {
		return messages.ReasonUnreachable
	}
	return why
}

// abroad gives an end that a gateway tells as it is told here.
func abroad(notice any) any {
	if reasonOf(notice) != messages.ReasonSessionClosed {
		return notice
	}
	switch n := notice.(type) {
	case *messages.Lost:
		return &messages.Lost{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	case *messages.Cancelled:
		return &messages.Cancelled{Grant: n.Grant, Reason: messages.ReasonUnreachable}
	case *messages.Failed:
		return &messages.Failed{Grant: n.Grant, Reason: messages.ReasonUnreachable, Detail: closed}
	}
	return notice
}

func reasonOf(notice any) messages.Reason {
	switch n := notice.(type) {
	case *messages.Released:
		return n.Reason
	case *messages.Lost:
		return n.Reason
	case *messages.Cancelled:
		return n.Reason
	case *messages.Failed:
		return n.Reason
	}
	return messages.ReasonNone
}
