package access

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// Helpers that all tests of behaviour share, in any package.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
)

// bound bounds a wait for something that must come, on a machine of any speed.
var bound = patient.Bound

// happens waits for a signal that must come.
func happens(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(bound):
		require.FailNow(t, "it did not happen: "+what)
	}
}

// recorded gives a mutex whose requests a recorder follows: for one request each.
func recorded(t *testing.T, client *locks.Client, path string) (*locks.Mutex, *actorstest.Recorder) {
	t.Helper()
	rec := recorder(t, client)
	return client.Mutex(path, locks.WithObserver(rec.PID())), rec
}

// lock takes a lock that is free.
func lock(t *testing.T, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	lease, err := client.Mutex(path).Lock(deadline(t))
	require.NoError(t, err)
	return lease
}

func unlock(t *testing.T, lease *locks.Lease) {
	t.Helper()
	require.NoError(t, lease.Unlock(deadline(t)))
}

// use takes a lock and gives it back.
func use(t *testing.T, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	lease := lock(t, client, path)
	require.Equal(t, path, lease.Path())
	require.True(t, lease.Valid())
	unlock(t, lease)
	return lease
}

// waiter is a Lock that runs elsewhere.
type waiter struct {
	rec   *actorstest.Recorder
	lease *locks.Lease
	err   error
	done  chan struct{}
}

// asks makes a function that asks for a lock of some kind, with an observer.
type asks func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error)

// mutexAt asks for an exclusive lock.
func mutexAt(path string) asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Mutex(path, observe).Lock
	}
}

// queue asks for an exclusive lock on a goroutine, and returns when it waits for somebody.
func queue(t *testing.T, client *locks.Client, path string) *waiter {
	t.Helper()
	return wait(t, client, mutexAt(path))
}

// wait is queue for any kind of lock.
func wait(t *testing.T, client *locks.Client, ask asks) *waiter {
	t.Helper()
	rec := recorder(t, client)
	acquire := ask(client, locks.WithObserver(rec.PID()))
	w := &waiter{rec: rec, done: make(chan struct{})}
	ctx := deadline(t)
	go func() {
		defer close(w.done)
		w.lease, w.err = acquire(ctx)
	}()
	await(t, rec, messages.StateWatching)
	return w
}

// granted waits until it has the lock.
func (w *waiter) granted(t *testing.T) *locks.Lease {
	t.Helper()
	<-w.done // bounded by the deadline that Lock was given
	require.NoError(t, w.err)
	return w.lease
}

// waits says that it has neither a lock nor an error.
func (w *waiter) waits(t *testing.T) {
	t.Helper()
	select {
	case <-w.done:
		t.Fatalf("it does not wait any more: %v, %v", w.lease, w.err)
	default:
	}
}

// await waits until a request goes into a state.
func await(t *testing.T, rec *actorstest.Recorder, state messages.State) messages.Transition {
	t.Helper()
	tr, err := rec.Await(deadline(t), state)
	require.NoError(t, err)
	return tr
}
