package relay

import "github.com/turnstile-locks/turnstile/messages"

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

// lose ends a request that holds.
func (r *Requester) lose(why messages.Reason, detail, on string) []Output {
	return r.finish(&messages.Lost{Grant: r.grant, Reason: why, Detail: detail}, on)
}

// again begins the request anew, with a new id, at a gateway: another one, or the same. An attempt that
// has just begun is left without a sending, which is Wake's: or else two gateways that close would
// have the request go to and fro between them as fast as the network is.
func (r *Requester) again(now Instant, at int, on string) []Output {
	r.ghost = now.plus(r.patience())
	young := r.try.young(now)
	out := r.leave(now, at, on)
	if young {
		return out
	}
	return append(out, r.send(now)...)
}

// leave leaves this attempt, and is ready to send the next, which Wake does later.
func (r *Requester) leave(now Instant, at int, on string) []Output {
	out := append([]Output{r.farewell()}, r.move(messages.StateRecovering, on, messages.ReasonNone)...)
	out = append(out, r.troubled("")...) // that was there
	r.places.now = at
	r.grant = messages.Grant{Path: r.want.Path}
	r.try = newAttempt(r.try.index+1, now)
	return out
}
