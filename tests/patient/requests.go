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

// AwaitWaiting waits until so many calls of a client wait for a lock, with a node of their own or without.
func AwaitWaiting(t *testing.T, client *locks.Client, path string, calls int) {
	t.Helper()
	Eventually(t, func() bool {
		answer, err := client.Session().Ask(Deadline(t), &messages.ReadInside{Root: path})
		if err != nil {
			return false
		}
		waiting := answer.(*messages.Inside).All
		for _, c := range QueueOf(t, client, path) {
			if !c.Holds && c.Session == client.Session().ID() {
				waiting++
			}
		}
		return waiting >= calls
	}, "fewer than %d calls wait for %s", calls, path)
}

// AwaitInside waits until so many calls of a client wait without a node of their own, be it connected or not.
func AwaitInside(t *testing.T, client *locks.Client, calls int) {
	t.Helper()
	Eventually(t, func() bool { return client.State().Inside == calls }, "never %d calls inside", calls)
}
