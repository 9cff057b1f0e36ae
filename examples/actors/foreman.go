package main

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/examples/printing"
	"github.com/turnstile-locks/turnstile/messages"
)

// foreman is the parent of two lock actors.
type foreman struct {
	settings
	from    actors.Provider
	prints  *printing.Printer
	verdict chan<- error

	locks   []*actor.PID     // the lock actors, in the order in which they were spawned
	grants  []messages.Grant // what was held, in order
	back    int              // how many of them were given back
	ended   int              // how many lock actors have ended
	asked   bool             // the first was told that somebody wants the lock
	holding bool             // from Held until we say Release
}

// workDone and lockEnded are messages of the foreman to itself.
type (
	workDone  struct{}
	lockEnded struct{}
)

// Receive takes one message: the notices of the lock actors come like any other.
func (f *foreman) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		f.spawn(ctx)
	case *messages.Held:
		f.held(ctx, msg)
	case *messages.Transition:
		// The second stands in the queue behind the first: time to ask for the lock. Anybody can do
		// that, also by writing "unlock" into the holder's node.
		if msg.To == messages.StateWatching && f.holding {
			ctx.Send(f.locks[0], &messages.Revoke{})
		}
	case *messages.RevokeRequested:
		f.asked = true
		f.work(ctx)
	case *workDone:
		f.holding = false
		ctx.Send(f.locks[len(f.grants)-1], &messages.Release{})
	case *messages.Released:
		f.released(msg)
	case *messages.Lost:
		f.end(fmt.Errorf("lost: %s %s", msg.Reason, msg.Detail))
	case *messages.Failed:
		f.end(fmt.Errorf("failed: %s %s", msg.Reason, msg.Detail))
	case *messages.Cancelled:
		f.end(fmt.Errorf("cancelled: %s", msg.Reason))
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &lockEnded{}) // it overtakes the last notice; this does not
	case *lockEnded:
		f.lockEnded()
	}
}

// spawn spawns a lock actor. The foreman observes it as well, to hear of its transitions. Two requests of one actor
// for one lock are refused, because they would wait for each other: these are asked for in the names of two.
func (f *foreman) spawn(ctx actor.Context) {
	name := fmt.Sprintf("lock %d", len(f.locks)+1)
	want := messages.Acquire{Path: f.path, Label: name, Owner: name}
	observers := actors.WithObserver(ctx.Self(), f.prints.Observe(ctx.ActorSystem(), len(f.locks)+1))
	f.locks = append(f.locks, ctx.Spawn(actors.NewLock(f.from, want, observers)))
}

func (f *foreman) held(ctx actor.Context, held *messages.Held) {
	if f.holding {
		f.end(fmt.Errorf("two hold at a time: %s and %s", f.grants[0].Node, held.Node))
		return
	}
	f.holding = true
	f.grants = append(f.grants, held.Grant)
	if len(f.grants) == 1 {
		f.spawn(ctx) // the second one, which will wait
		return
	}
	if held.Token <= f.grants[0].Token {
		f.end(fmt.Errorf("token %v after token %v", held.Token, f.grants[0].Token))
		return
	}
	f.work(ctx)
}

// work does the work under the lock. An actor does not block, so the end of the work is a message,
// too.
func (f *foreman) work(ctx actor.Context) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	time.AfterFunc(f.settings.work, func() { root.Send(self, &workDone{}) })
}

func (f *foreman) released(msg *messages.Released) {
	f.back++
	if msg.Reason != messages.ReasonReleased {
		f.end(fmt.Errorf("%s was released, but not by us: %s", msg.Node, msg.Reason))
	}
}

// lockEnded ends the whole when both lock actors have.
func (f *foreman) lockEnded() {
	f.ended++
	switch {
	case f.back < f.ended:
		f.end(fmt.Errorf("a lock actor ended without giving the lock back"))
	case f.ended == 2 && !f.asked:
		f.end(fmt.Errorf("nobody was asked to give the lock back"))
	case f.ended == 2:
		f.end(nil)
	}
}

// end gives the verdict, once.
func (f *foreman) end(err error) {
	select {
	case f.verdict <- err:
	default: // the first counts
	}
}
