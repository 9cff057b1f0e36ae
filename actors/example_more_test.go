package actors_test

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Several locks as one: taken in an order in which no two actors wait for each other.
func ExampleNewAll() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewAll(session, []messages.Acquire{
					{Path: "/stock/shoes", Mode: messages.Write},
					{Path: "/printers", Mode: messages.Semaphore, Permits: 3, Weight: 2},
				}))
			case *messages.AllHeld:
				for _, held := range msg.Locks {
					fmt.Println("has", held.Path)
				}
				ctx.Send(ctx.Children()[0], &messages.Release{})
			case *messages.AllReleased:
				fmt.Println("has given back", len(msg.Locks))
				close(over)
			}
		}
	})
	// Output:
	// has /printers
	// has /stock/shoes
	// has given back 2
}

// A queue is followed: the session tells of it whenever somebody has come or gone.
func ExampleSession_follow() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		asked, told := false, false
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Request(session.PID(), &messages.Follow{Path: "/orders/42"})
			case *messages.Queue:
				switch {
				case !asked:
					asked = true
					fmt.Println("nobody:", len(msg.Contenders) == 0)
					ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42", Label: "billing"}))
				case !told && len(msg.Contenders) == 1: // the first answer may come before anybody is in the lock path
					told = true
					fmt.Println(msg.Contenders[0].Label, "holds:", msg.Contenders[0].Holds)
					ctx.Request(session.PID(), &messages.Unfollow{Path: "/orders/42"})
					close(over)
				}
			}
		}
	})
	// Output:
	// nobody: true
	// billing holds: true
}

// A goroutine asks the session who contends for a lock; an actor would send the same question to session.PID().
func ExampleSession_Ask() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		go func() {
			defer close(over)
			answer, err := session.Ask(context.Background(), &messages.ReadQueue{Path: "/orders/42"})
			if err != nil {
				fmt.Println(err)
				return
			}
			queue := answer.(*messages.Queue)
			fmt.Println(queue.Path, len(queue.Contenders), queue.Reason == messages.ReasonNone)
		}()
		return func(actor.Context) {}
	})
	// Output: /orders/42 0 true
}
