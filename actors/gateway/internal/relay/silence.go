package relay

import "github.com/turnstile-locks/turnstile/messages"

// notice tells the owner that nothing is heard of the gateway.
func (r *Requester) notice(now Instant) []Output {
	quiet := r.try.heard.plus(missed * r.pace())
	if r.stage == held {
		quiet = r.hold.fresh.plus(r.hold.lasts / 2)
	}
	if r.try.silent || now < quiet || r.ordered.ends() || r.shown == messages.StateReleasing {
		return nil
	}
	r.try.silent = true
	if r.shown == messages.StateRecovering {
		return nil // the gateway's own connection is down, and the owner knows
	}
	out := r.move(messages.StateRecovering, "Silent", messages.ReasonNone)
	if r.stage == held {
		out = append(out, Say{Notice: &messages.Suspended{Grant: r.grant}})
	}
	return out
}

// resume tells the owner that the gateway is heard again.
func (r *Requester) resume() []Output {
	if !r.try.silent {
		return nil
	}
	r.try.silent = false
	there := r.try.there
	if r.shown != messages.StateRecovering || there == messages.StateRecovering || there == messages.StateNone {
		return nil
	}
	out := r.move(there, "Found", messages.ReasonNone)
	if r.stage == held {
		out = append(out, Say{Notice: &messages.Resumed{Grant: r.grant}})
	}
	return out
}
