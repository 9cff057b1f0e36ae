package scene

import (
	"context"
	"testing"
	"time"

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

// RequireBehind requires that a Lock that is given up knows the one before it: what the holder's node says. The holder has
// the label "nightly run".
func RequireBehind(t *testing.T, holder, waiter locks.Locker) {
	t.Helper()
	begun := time.Now().Truncate(time.Second)
	held, err := holder.Lock(Deadline(t))
	require.NoError(t, err)
	var e *locks.Error
	for patience := 10 * time.Millisecond; e == nil || e.Behind.Node != held.Node() || e.Behind.Host == ""; patience *= 2 {
		require.Less(t, patience, Bound, "it never knows") // before its own last attempt is cleaned up, too
		ctx, cancel := context.WithTimeout(Deadline(t), patience)
		_, err = waiter.Lock(ctx)
		cancel()
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Equal(t, messages.StateWatching, e.State)
	require.Equal(t, held.Path(), e.Behind.Path)
	require.Equal(t, "nightly run", e.Behind.Label)
	require.False(t, e.Behind.Since.Before(begun))
	require.ErrorContains(t, err, `"nightly run", process `)
	require.NotContains(t, err.Error()[1:], "turnstile: ")
	require.NotContains(t, err.Error(), "releasing")
	GiveBack(t, held)
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
