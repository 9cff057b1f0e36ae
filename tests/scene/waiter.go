package scene

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// Waiter is a Lock that runs elsewhere.
type Waiter struct {
	Rec   *actorstest.Recorder
	Lease *locks.Lease
	Err   error
	Done  chan struct{} // closed when Lock has returned
	Leave func()        // ends its context
}

// Asks makes a function that asks for a lock of some kind, with an observer.
type Asks func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error)

// MutexAt asks for an exclusive lock.
func MutexAt(path string) Asks { return Exclusive.At(path) }

// LockAt takes a lock that is free.
func LockAt(t *testing.T, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	return Locked(t, client.Mutex(path).Lock)
}

// Queue asks for an exclusive lock on a goroutine, and returns when it waits for somebody.
func Queue(t *testing.T, client *locks.Client, path string) *Waiter {
	t.Helper()
	return Wait(t, client, MutexAt(path))
}

// Wait is Queue for any kind of lock.
func Wait(t *testing.T, client *locks.Client, ask Asks) *Waiter {
	t.Helper()
	ctx, leave := context.WithCancel(Deadline(t))
	w := &Waiter{Rec: Recorder(t, client), Done: make(chan struct{}), Leave: leave}
	acquire := ask(client, ObservedBy(w.Rec))
	go func() {
		defer close(w.Done)
		w.Lease, w.Err = acquire(ctx)
	}()
	Await(t, w.Rec, messages.StateWatching)
	return w
}

// Granted waits until it has the lock.
func (w *Waiter) Granted(t *testing.T) *locks.Lease {
	t.Helper()
	<-w.Done // bounded by the deadline that Lock was given
	require.NoError(t, w.Err)
	return w.Lease
}

// Passes waits until it has the lock, and gives it back.
func (w *Waiter) Passes(t *testing.T) *locks.Lease {
	t.Helper()
	lease := w.Granted(t)
	GiveBack(t, lease)
	return lease
}

// Fails waits until it has ended without the lock, and gives its error.
func (w *Waiter) Fails(t *testing.T) error {
	t.Helper()
	<-w.Done
	require.Error(t, w.Err)
	return w.Err
}

// Waits says that it has neither a lock nor an error.
func (w *Waiter) Waits(t *testing.T) {
	t.Helper()
	select {
	case <-w.Done:
		t.Fatalf("it does not wait any more: %v, %v", w.Lease, w.Err)
	default:
	}
}
