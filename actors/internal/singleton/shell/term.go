package shell

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Causes of the end of a term's context.
var (
	// ErrLost: the lock is not ours any more; the text says why.
	ErrLost = errors.New("turnstile: the singleton has lost its lock")
	// ErrAsked: somebody has asked for the lock.
	ErrAsked = errors.New("turnstile: the lock of the singleton was asked for")
	// ErrFailing: the child has failed too often here.
	ErrFailing = errors.New("turnstile: the singleton has failed too often on this node")
	// ErrStopped: the singleton was stopped, or its session is about to close.
	ErrStopped = errors.New("turnstile: the singleton was stopped")
)

// causeOf says why the context of the child ends.
func causeOf(ev singleton.Event) error {
	switch ev.Kind {
	case singleton.Asked:
		return ErrAsked
	case singleton.ChildRestarted, singleton.ChildEnded:
		return ErrFailing
	case singleton.Gone, singleton.LockEnded: // which has ended it already
		return fmt.Errorf("%w: %s", ErrLost, ev.Reason)
	}
	return ErrStopped
}

// Term is one hold of the lock.
type Term struct {
	// Grant says what is held.
	Grant messages.Grant
	// Context ends with the term, before any other node can have the lock.
	Context context.Context

	run    uint64 // of the lease
	clock  *zkconn.LeaseClock
	cancel context.CancelCauseFunc
	over   atomic.Bool   // the lock is not ours any more, or is being given back
	idle   chan struct{} // closed when no child runs any more
}

func newTerm(held *messages.Held, clock *zkconn.LeaseClock) *Term {
	t := &Term{Grant: held.Grant, run: held.Run, clock: clock, idle: make(chan struct{})}
	t.Context, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Valid tells whether the lock is certain to be ours now. Once false it stays false.
func (t *Term) Valid() bool { return !t.over.Load() && t.clock.Unbroken(t.run) }

// Deadline is when the lease ends unless it is renewed.
func (t *Term) Deadline() time.Time { return t.clock.Deadline() }

// end ends the term: nothing is done under the lock any more.
func (t *Term) end(cause error) {
	t.over.Store(true)
	t.cancel(cause)
}
