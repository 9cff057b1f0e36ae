package locks

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// newLease makes the lease of a request that holds; values are those of the context that Lock was called with.
func newLease(from *lock, values context.Context, pid *actor.PID, held *messages.Held) *Lease {
	l := &Lease{held: held, clock: from.client.session.Clock(held.Epoch), lock: pid, from: from, over: make(chan struct{})}
	l.values, l.span = from.holdSpan(values, held)
	l.ctx, l.cancel = context.WithCancelCause((*leaseValues)(l))
	l.tellLoss()
	l.boundHold(from.maxHold)
	return l
}
