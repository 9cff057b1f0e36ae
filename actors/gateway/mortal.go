package gateway

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"
)

// life is whether an actor has stopped, in all its incarnations. It belongs to the actor's goroutine.
type life struct{ over bool }

var lifeID = ctxext.NextContextExtensionID()

// ExtensionID is that of the life among the extensions of an actor's context.
func (*life) ExtensionID() ctxext.ContextExtensionID { return lifeID }

// mortal keeps an actor that has stopped from being served again. A supervisor may have decided to restart
// it before it stopped: then protoactor makes a new incarnation of it, which nobody can reach or stop.
func mortal() actor.PropsOption {
	return func(props *actor.Props) {
		props.Configure(
			actor.WithOnInit(func(ctx actor.Context) { ctx.Set(&life{}) }),
			actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					lived, _ := c.Get(lifeID).(*life)
					if lived.over {
						return
					}
					if _, stopped := env.Message.(*actor.Stopped); stopped {
						lived.over = true
					}
					next(c, env)
				}
			}))
	}
}
