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
