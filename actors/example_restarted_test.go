package actors_test

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// accountant works while it holds a lock. Its supervisor restarts it when it panics.
type accountant struct {
	session *actors.Session
	audit   *actor.PID
	book    func()     // takes its time, and may panic
	lock    *actor.PID // that this incarnation spawned
}

// invoice asks an accountant to book.
type invoice struct{}

func (a *accountant) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started: // of every incarnation
		ctx.Send(ctx.Self(), &invoice{})
		a.lock = ctx.Spawn(actors.NewLock(a.session, messages.Acquire{Path: "/ledger"}, actors.WithObserver(a.audit)))
	case *invoice:
		a.book()
	case *messages.Held:
		if !ctx.Sender().Equal(a.lock) { // of the incarnation before: somebody else may hold by now
			fmt.Println("held by the incarnation before, not by this one")
			ctx.Send(ctx.Sender(), &messages.Release{}) // protoactor has stopped it, unless it was spawned at the root
			return
		}
		fmt.Println("held")
		ctx.Send(a.lock, &messages.Release{})
	}
}

// An actor that its supervisor restarts tells notices of its own lock actor from notices of its
// previous incarnation's. Here the previous incarnation is busy while it is granted the lock, and
// then panics.
func ExampleNewLock_restarted() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		granted, grants := make(chan struct{}), 0
		return func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				audit := ctx.Self()
				book := func() { <-granted; panic("it cannot be booked") }
				ctx.Spawn(actor.PropsFromProducer(func() actor.Actor {
					a := &accountant{session: session, audit: audit, book: book}
					book = func() {}
					return a
				}))
			case *messages.Held:
				if grants++; grants == 1 {
					close(granted)
				}
			case *messages.Released:
				close(over)
			}
		}
	})
	// Output:
	// held by the incarnation before, not by this one
	// held
}
