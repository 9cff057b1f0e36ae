package tests

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// possibleDeadlocks gives deadlocks that are sure, and possible ones, in words.
func possibleDeadlocks(t *testing.T, client *locks.Client, root string) (sure, possible []string) {
	t.Helper()
	all, some, err := client.PossibleDeadlocks(deadline(t), root)
	require.NoError(t, err)
	for _, d := range all {
		sure = append(sure, d.String())
	}
	for _, d := range some {
		possible = append(possible, d.String())
	}
	return sure, possible
}

// thisProcess is the name of a test's process in possible deadlocks.
func thisProcess(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// TestRetakingIsAPossibleDeadlock: whoever locks again what it holds, without the context of its lease, waits behind
// itself. Holds that are shared are no alarm, and what is known to be a deadlock is not told twice.
func TestRetakingIsAPossibleDeadlock(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, looker := open(t, at.Connect()), open(t, at.Connect())
		mutex := client.Mutex("/again/x", locks.WithReentry())
		outer := locked(t, mutex.Lock)
		inner, err := mutex.Lock(outer.Context())
		require.NoError(t, err)
		one, two := locked(t, client.RWMutex("/again/r").RLock), locked(t, client.RWMutex("/again/r").RLock)
		sure, possible := possibleDeadlocks(t, looker, "/")
		require.Empty(t, sure)
		require.Empty(t, possible, "they share")

		again := elsewhere(deadline(t), client.Mutex("/again/x").Lock)
		awaitCount(t, at, "/again/x", 2)
		sure, possible = possibleDeadlocks(t, looker, "/")
		require.Empty(t, sure, "nodes do not say that")
		require.Equal(t, []string{thisProcess(t) + " holds /again/x and waits for /again/x"}, possible)
		require.Empty(t, deadlocks(t, looker, "/"))
		giveBack(t, inner, outer, one, two)
		next := receive(t, again)
		require.NoError(t, next.err)
		giveBack(t, next.lease)

		x, y := locked(t, client.Mutex("/sure/x").Lock), locked(t, client.Mutex("/sure/y").Lock)
		forY, forX := elsewhere(x.Context(), client.Mutex("/sure/y").Lock), elsewhere(y.Context(), client.Mutex("/sure/x").Lock)
		awaitCount(t, at, "/sure/x", 2)
		awaitCount(t, at, "/sure/y", 2)
		sure, possible = possibleDeadlocks(t, looker, "/sure")
		require.Len(t, sure, 1)
		require.Empty(t, possible)
		giveBack(t, x, y)
		for _, waited := range []<-chan answer{forX, forY} {
			if got := receive(t, waited); got.err == nil {
				giveBack(t, got.lease)
			}
		}
	})
}

// TestCrossedHoldsAreAPossibleDeadlock: two processes, each of which holds what the other waits for, and neither says
// so with a context.
func TestCrossedHoldsAreAPossibleDeadlock(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, looker := open(t, at.Connect()), open(t, at.Connect())
		other := startPair(t, at.Connect(), "/y", "/x")
		require.Equal(t, "holds", other.hear(t))
		x := locked(t, client.Mutex("/x").Lock)
		other.goOn(t)
		awaitCount(t, at, "/x", 2)
		_, possible := possibleDeadlocks(t, looker, "/")
		require.Empty(t, possible, "one waits for the other")
		y := elsewhere(deadline(t), client.Mutex("/y").Lock)
		awaitCount(t, at, "/y", 2)
		_, possible = possibleDeadlocks(t, looker, "/")
		require.Len(t, possible, 1)
		require.Contains(t, possible[0], thisProcess(t)+" holds /x and waits for /y")
		require.Contains(t, possible[0], " holds /y and waits for /x")
		giveBack(t, x)
		require.Equal(t, "has both", other.hear(t))
		<-other.Exited()
		got := receive(t, y)
		require.NoError(t, got.err)
		giveBack(t, got.lease)
	})
}
