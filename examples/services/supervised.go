package services

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Worker is an actor that works while it holds a lock. Its lock actor is its child: when it panics and its supervisor
// starts it again, the lock is given back first, and asked for anew.
type Worker struct {
	Locks actors.Provider // a session
	Path  string
	// Work is called once while the lock is held, and must not block for long. Done is told how it ended.
	Work func(token int64)
	Done func(err error)

	lock *actor.PID
}

// Receive takes one message.
func (w *Worker) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		w.lock = ctx.Spawn(actors.NewLock(w.Locks, messages.Acquire{Path: w.Path}))
	case *messages.Held:
		w.Work(int64(msg.Token))
		ctx.Send(w.lock, &messages.Release{})
	case *messages.Released:
		w.Done(nil)
	case *messages.Lost, *messages.Failed, *messages.Cancelled:
		w.Done(fmt.Errorf("the lock is not ours: %+v", msg))
	}
}
