package actors_test

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// biller is an actor of which there is to be one in the cluster.
type biller struct{ by *actors.Activation }

// bill is work for it.
type bill struct{ order int }

func (b *biller) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actors.Activation: // first of all, in each incarnation
		b.by = msg
		fmt.Println("active, with a token:", msg.Token > 0)
	case *bill:
		if b.by.Context.Err() == nil { // give it to all that takes long, and the token to all that is written
			fmt.Println("bills order", msg.order)
		}
		ctx.Respond(msg)
	case *actor.Stopping: // the lock is given back when this has returned
		fmt.Println("stops, and may save:", b.by.Valid())
	}
}

// An actor that exists once in the cluster. Every node spawns this; one of them runs the actor.
func ExampleNewSingleton() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		return func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				props := actor.PropsFromProducer(func() actor.Actor { return &biller{} })
				one := ctx.Spawn(actors.NewSingleton(session, messages.Acquire{Path: "/singletons/billing"}, props,
					actors.WithBuffer(100))) // what comes before it is active waits
				ctx.Request(one, &bill{42})
			case *bill:
				ctx.Stop(ctx.Children()[0])
			case *actor.Terminated:
				fmt.Println("ended")
				close(over)
			}
		}
	})
	// Output:
	// active, with a token: true
	// bills order 42
	// stops, and may save: true
	// ended
}
