package activation

import "github.com/asynkron/protoactor-go/actor"

// guarded is the context of an actor with a guard. Continuations pass no middleware.
type guarded struct{ actor.Context }

func decorate(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
	return func(ctx actor.Context) actor.Context { return next(&guarded{ctx}) }
}

// ReenterAfter runs a continuation when a future has ended, unless the lock is over by then.
func (c *guarded) ReenterAfter(f *actor.Future, cont func(res any, err error)) {
	g := guardOf(c)
	c.Context.ReenterAfter(f, func(res any, err error) {
		if g.gate.look() == open {
			cont(res, err)
		}
	})
}
