package relay

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// notice tells the owner that nothing is heard of the gateway.
func (r *Requester) notice(now Instant) []Output {
	quiet := r.heard.plus(missed * r.pace())
	if r.stage == held {
		quiet = r.fresh.plus(r.lasts / 2)
	}
	if r.silent || now < quiet || r.order >= Cancel || r.shown == messages.StateReleasing {
		return nil
	}
	r.silent = true
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
	if !r.silent {
		return nil
	}
	r.silent = false
	if r.shown != messages.StateRecovering || r.there == messages.StateRecovering || r.there == messages.StateNone {
		return nil
	}
	out := r.move(r.there, "Found", messages.ReasonNone)
	if r.stage == held {
		out = append(out, Say{Notice: &messages.Resumed{Grant: r.grant}})
	}
	return out
}

// again begins the request anew, with a new id, at a gateway: another one, or the same. An attempt that
// has just begun is left without a sending, which is Wake's: or else two gateways that close would
// have the request go to and fro between them as fast as the network is.
func (r *Requester) again(now Instant, at int, on string) []Output {
	r.ghost = now.plus(r.patience())
	young := now < r.entered.plus(firstEvery)
	out := r.leave(now, at, on)
	if young {
		return out
	}
	return append(out, r.send(now)...)
}

// patience is how long a gateway takes at most to give up what it hears no more of, and some more.
func (r *Requester) patience() time.Duration { return max(leastPatience, 4*r.slow) }

// leave leaves this attempt, and is ready to send the next, which Wake does later.
func (r *Requester) leave(now Instant, at int, on string) []Output {
	out := append([]Output{r.farewell()}, r.move(messages.StateRecovering, on, messages.ReasonNone)...)
	r.gateway = at
	r.attempt++
	r.entered = now
	r.grant = messages.Grant{Path: r.want.Path}
	r.by = 0
	r.accepted, r.seen, r.sent, r.silent = false, 0, nil, false
	r.there, r.every, r.heard, r.asked = messages.StateNone, firstEvery, now, now
	return out
}
