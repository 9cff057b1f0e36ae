package guides_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// press prints while it holds a lock.
type press struct {
	session *actors.Session
	print   func(messages.Token)      // may panic
	tell    func(notice any, of bool) // what has come, and whether it is of this incarnation's lock actor
	lock    *actor.PID
}

func (p *press) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started: // in each incarnation
		p.lock = ctx.Spawn(actors.NewLock(p.session, messages.Acquire{Path: "/press"}))
	case *messages.Held:
		defer ctx.Send(ctx.Sender(), &messages.Release{}) // also when print panics
		if ctx.Sender().Equal(p.lock) {                   // else it is of the incarnation before
			p.print(msg.Token)
		}
	case *messages.Released, *messages.Lost:
		p.tell(msg, ctx.Sender().Equal(p.lock))
	}
}

// supervised runs presses below a supervisor with a directive. Each print panics as often as jams
// says; then it tells its token. It returns when that was told, or when the supervisor has seen its
// press end.
func supervised(client *locks.Client, jams int, directive actor.Directive) {
	printed, ended := make(chan messages.Token), make(chan struct{})
	print := func(token messages.Token) {
		if jams--; jams >= 0 {
			panic(errors.New("the paper has jammed"))
		}
		printed <- token
	}
	pressProps := actor.PropsFromProducer(func() actor.Actor {
		return &press{session: client.Session(), print: print, tell: func(any, bool) {}}
	})
	decider := func(any) actor.Directive { return directive }
	strategy := actor.NewOneForOneStrategy(3, 0, decider)
	foreman := actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			fmt.Println("foreman: starts")
			ctx.Spawn(pressProps)
		case *actor.Terminated:
			if directive == actor.StopDirective { // else it is restarted, with the foreman where that escalates
				close(ended)
			}
		}
	}, actor.WithSupervisor(strategy))
	pid := client.System().Root.Spawn(foreman)
	select {
	case token := <-printed:
		fmt.Println("printed, with a token:", token > 0)
	case <-ended:
		fmt.Println("foreman: the press has ended")
	}
	_ = client.System().Root.StopFuture(pid).Wait()
}

// The effect of a supervisor's directive on the lock of an actor that panics while it holds.
func Example_supervision() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		for _, d := range []actor.Directive{actor.RestartDirective, actor.StopDirective, actor.EscalateDirective} {
			fmt.Println(d)
			supervised(client, 1, d)
			lease, err := client.Mutex("/press").Lock(ctx) // nothing stays of it
			if err != nil {
				return err
			}
			if err := lease.Unlock(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	// Output:
	// RestartDirective
	// foreman: starts
	// printed, with a token: true
	// StopDirective
	// foreman: starts
	// foreman: the press has ended
	// EscalateDirective
	// foreman: starts
	// foreman: starts
	// printed, with a token: true
}

// An actor that is resumed keeps its lock actor: only the Release that it has deferred gives the
// lock back.
func Example_supervisionResumed() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		released := make(chan string)
		pressProps := actor.PropsFromProducer(func() actor.Actor {
			jam := func(messages.Token) { panic(errors.New("the paper has jammed")) }
			tell := func(notice any, of bool) { released <- fmt.Sprintf("%T, of its own lock: %v", notice, of) }
			return &press{session: client.Session(), print: jam, tell: tell}
		})
		resume := actor.NewOneForOneStrategy(1, 0, func(any) actor.Directive { return actor.ResumeDirective })
		client.System().Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Started); ok {
				ctx.Spawn(pressProps)
			}
		}, actor.WithSupervisor(resume)))
		fmt.Println(<-released)
		return nil
	})
	// Output: *messages.Released, of its own lock: true
}

// printer is the same actor without a lock of its own: somebody else holds it.
type printer struct {
	by      *actors.Activation
	printed chan string
}

func (p *printer) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actors.Activation: // of a singleton: first, in each incarnation
		p.by = msg
	case string:
		if p.by != nil && p.by.Valid() {
			p.printed <- "singleton: " + msg
			return
		}
		lease := activation.LeaseOf(ctx) // Token and Context, too
		p.printed <- fmt.Sprint("activation: ", msg, ", valid: ", lease.Valid())
	}
}

// The easier ways: the lock is held for the actor, over its restarts.
func Example_supervisionEasier() {
	onServer(func(ctx context.Context, client *locks.Client, _ *embedded.Server) error {
		session, root, printed := client.Session(), client.System().Root, make(chan string)
		produce := func() actor.Actor { return &printer{printed: printed} }

		props := actor.PropsFromProducer(produce)
		lock := messages.Acquire{Path: "/singletons/press"}
		one := root.Spawn(actors.NewSingleton(session, lock, props, actors.WithBuffer(10)))
		root.Send(one, "page 1")
		fmt.Println(<-printed)

		single := activation.Single(session, activation.At(messages.Acquire{Path: "/presses/7"}))
		seven := root.Spawn(actor.PropsFromProducer(produce, single))
		root.Send(seven, "page 2")
		fmt.Println(<-printed)
		return nil
	})
	// Output:
	// singleton: page 1
	// activation: page 2, valid: true
}
