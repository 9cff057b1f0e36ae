package actors_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// An actor takes several locks in the order of their paths, each when it holds the one before: so no
// two actors wait for each other. It names one caller, for searches for deadlocks. If one is lost, it
// gives the others back.
func Example_severalLocks() {
	wants := []messages.Acquire{{Path: "/printers"}, {Path: "/stock/shoes"}, {Path: "/stock/socks"}}
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		var taken []*actor.PID
		open := 0 // lock actors that have not told how they ended
		next := func(ctx actor.Context) {
			want := wants[len(taken)]
			want.Caller = "clerk 7"
			taken, open = append(taken, ctx.Spawn(actors.NewLock(session, want))), open+1
		}
		giveBack := func(ctx actor.Context) {
			for _, lock := range slices.Backward(taken) {
				ctx.Send(lock, &messages.Release{})
			}
		}
		ended := func() {
			if open--; open == 0 {
				close(over)
			}
		}
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				next(ctx)
			case *messages.Held:
				fmt.Println("has", msg.Path)
				if len(taken) < len(wants) {
					next(ctx)
					return
				}
				fmt.Println("works with all")
				giveBack(ctx)
			case *messages.Lost, *messages.Cancelled, *messages.Failed:
				giveBack(ctx)
				ended()
			case *messages.Released:
				ended()
			}
		}
	})
	// Output:
	// has /printers
	// has /stock/shoes
	// has /stock/socks
	// works with all
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
