package term

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
)

// Last serves actor.Stopping or actor.Stopped. After a panic there the supervisor would restart the
// actor, or it would never end, and keep its lock.
func Last(c actor.ReceiverContext, env *actor.MessageEnvelope, next actor.ReceiverFunc) {
	defer func() {
		if r := recover(); r != nil {
			mailbox.LogPanic(c.ActorSystem(), "an actor panicked while it was stopping", r, "actor", c.Self().String())
		}
	}()
	next(c, env)
}

// Continues lets the continuations of an actor's ReenterAfter run while serves says so. They pass
// no middleware, and run even behind the actor's Stop.
func Continues(serves func(actor.Context) bool) actor.PropsOption {
	return actor.WithContextDecorator(func(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
		return func(ctx actor.Context) actor.Context { return next(&continuing{ctx, serves}) }
	})
}

type continuing struct {
	actor.Context
	serves func(actor.Context) bool
}

// ReenterAfter runs a continuation when a future has ended, where the actor is still served then.
func (c *continuing) ReenterAfter(f *actor.Future, cont func(res any, err error)) {
	c.Context.ReenterAfter(f, func(res any, err error) {
		if c.serves(c.Context) {
			cont(res, err)
		}
	})
}
