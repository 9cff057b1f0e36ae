package actors_test

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// played runs an example's actor, which gets a session and closes over when it is done, on a server of its own.
func played(play func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc) {
	t := new(scene.Example) // in a test: its *testing.T
	defer t.End()
	kit, over := actorstest.Start(t), make(chan struct{})
	kit.System.Root.Spawn(actor.PropsFromFunc(play(kit.Session, over)))
	select {
	case <-over:
	case <-time.After(time.Minute):
		fmt.Println("not over after a minute")
	}
}

// A writer becomes a reader: it takes the read lock beside the write lock, and then releases that. Nobody writes in
// between.
func ExampleNewLock_downgrade() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		var writer *actor.PID
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				writer = ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/prices", Mode: messages.Write}))
			case *messages.Held:
				if !ctx.Sender().Equal(writer) {
					fmt.Println("reads")
					ctx.Send(writer, &messages.Release{})
					return
				}
				fmt.Println("writes")
				ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/prices", Mode: messages.Read, Beside: msg.Node}))
			case *messages.Released:
				fmt.Println("writes no more")
				close(over)
			}
		}
	})
	// Output:
	// writes
	// reads
	// writes no more
}

// Permits of a semaphore, of which the actor asks for two, then for one too many, and then for more than there are.
func ExampleNewLock_semaphore() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		want := messages.Acquire{Path: "/printers", Mode: messages.Semaphore, Permits: 3, Weight: 2, Try: true}
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(session, want))
			case *messages.Held:
				fmt.Println("has two of three")
				ctx.Spawn(actors.NewLock(session, want))
			case *messages.Cancelled:
				fmt.Println("two more:", msg.Reason)
				want.Permits, want.Weight = 5, 4 // the number at the lock path counts
				ctx.Spawn(actors.NewLock(session, want))
			case *messages.Failed:
				fmt.Println("four of", msg.Permits, "-", msg.Reason)
				close(over)
			}
		}
	})
	// Output:
	// has two of three
	// two more: another contender is first
	// four of 3 - the semaphore has another number of permits
}

// An actor that asks for a lock which it has waits for itself. A search for deadlocks finds that.
func ExampleNewLock_twice() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		want := messages.Acquire{Path: "/orders/42", Deadlocks: messages.Detection{Root: "/orders", Every: 20 * time.Millisecond}}
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(session, want))
			case *messages.Held:
				ctx.Spawn(actors.NewLock(session, want))
			case *messages.Cancelled:
				fmt.Println("the second:", msg.Reason)
				close(over)
			}
		}
	})
	// Output: the second: deadlock
}

// A contest: one node, and the request that makes it holds.
func ExampleNewLock_contest() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/master", Mode: messages.Contest}))
			case *messages.Held:
				fmt.Println(msg.Path, msg.Node)
				close(over)
			}
		}
	})
	// Output: /master master
}
