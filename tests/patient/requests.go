package patient

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// Recorded gives a mutex whose requests a recorder follows: for one request each.
func Recorded(t *testing.T, client *locks.Client, path string) (*locks.Mutex, *actorstest.Recorder) {
	t.Helper()
	rec := Recorder(t, client)
	return client.Mutex(path, locks.WithObserver(rec.PID())), rec
}

// Answer is the result of a Lock that runs elsewhere.
type Answer struct {
	Lease *locks.Lease
	Err   error
}

// Elsewhere acquires on a goroutine.
func Elsewhere(ctx context.Context, lock func(context.Context) (*locks.Lease, error)) <-chan Answer {
	got := make(chan Answer, 1)
	go func() {
		lease, err := lock(ctx)
		got <- Answer{lease, err}
	}()
	return got
}

// Await waits until a request goes into a state.
func Await(t *testing.T, rec *actorstest.Recorder, state messages.State) messages.Transition {
	t.Helper()
	tr, err := rec.Await(Deadline(t), state)
	require.NoError(t, err)
	return tr
}

// ObservedBy has a recorder follow a request.
func ObservedBy(rec *actorstest.Recorder) locks.LockOption { return locks.WithObserver(rec.PID()) }
