package deadlocks

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// possibleDeadlocks gives deadlocks that are sure, and possible ones, in words.
func possibleDeadlocks(t *testing.T, client *locks.Client, root string) (sure, possible []string) {
	t.Helper()
	all, some, err := client.PossibleDeadlocks(scene.Deadline(t), root)
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

// TestRetakingIsAPossibleDeadlock: a process that locks again what it holds, without the context of
// its lease, waits behind itself. Shared holds raise no alarm, and a certain deadlock is not told
// twice.
func TestRetakingIsAPossibleDeadlock(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		client, looker := at.Open(t), at.Open(t)
		mutex := client.Mutex("/again/x", locks.WithReentry())
		outer := scene.Locked(t, mutex.Lock)
		inner, err := mutex.Lock(outer.Context())
		require.NoError(t, err)
		one, two := scene.Locked(t, client.RWMutex("/again/r").RLock), scene.Locked(t, client.RWMutex("/again/r").RLock)
		sure, possible := possibleDeadlocks(t, looker, "/")
		require.Empty(t, sure)
		require.Empty(t, possible, "they share")

		again := scene.Elsewhere(scene.Deadline(t), client.Mutex("/again/x").Lock)
		scene.AwaitCount(t, at, "/again/x", 2)
		sure, possible = possibleDeadlocks(t, looker, "/")
		require.Empty(t, sure, "nodes do not say that")
		require.Equal(t, []string{thisProcess(t) + " holds /again/x and waits for /again/x"}, possible)
		require.Empty(t, deadlocks(t, looker, "/"))
		scene.GiveBack(t, inner, outer, one, two)
		next := scene.Receive(t, again)
		require.NoError(t, next.Err)
		scene.GiveBack(t, next.Lease)

		x, y := scene.Locked(t, client.Mutex("/sure/x").Lock), scene.Locked(t, client.Mutex("/sure/y").Lock)
		forY, forX := scene.Elsewhere(x.Context(), client.Mutex("/sure/y").Lock),
			scene.Elsewhere(y.Context(), client.Mutex("/sure/x").Lock)
		scene.AwaitCount(t, at, "/sure/x", 2)
		scene.AwaitCount(t, at, "/sure/y", 2)
		sure, possible = possibleDeadlocks(t, looker, "/sure")
		require.Len(t, sure, 1)
		require.Empty(t, possible)
		scene.GiveBack(t, x, y)
		for _, waited := range []<-chan scene.Answer{forX, forY} {
			if got := scene.Receive(t, waited); got.Err == nil {
				scene.GiveBack(t, got.Lease)
			}
		}
	})
}

// TestCrossedHoldsAreAPossibleDeadlock: two processes, each of which holds what the other waits for, and neither says
// so with a context.
func TestCrossedHoldsAreAPossibleDeadlock(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		client, looker := at.Open(t), at.Open(t)
		other := scene.StartProcess(t, "TestPairInAProcess", pairVariable, at.Connect()+" /y /x")
		require.Equal(t, "holds", other.Hear(t))
		x := scene.Locked(t, client.Mutex("/x").Lock)
		other.GoOn(t)
		scene.AwaitCount(t, at, "/x", 2)
		_, possible := possibleDeadlocks(t, looker, "/")
		require.Empty(t, possible, "one waits for the other")
		y := scene.Elsewhere(scene.Deadline(t), client.Mutex("/y").Lock)
		scene.AwaitCount(t, at, "/y", 2)
		_, possible = possibleDeadlocks(t, looker, "/")
		require.Len(t, possible, 1)
		require.Contains(t, possible[0], thisProcess(t)+" holds /x and waits for /y")
		require.Contains(t, possible[0], " holds /y and waits for /x")
		scene.GiveBack(t, x)
		require.Equal(t, "has both", other.Hear(t))
		<-other.Exited()
		got := scene.Receive(t, y)
		require.NoError(t, got.Err)
		scene.GiveBack(t, got.Lease)
	})
}

// pairVariable makes TestPairInAProcess a process: it holds the server, and the paths of
// the lock to hold and of the one to want then.
const pairVariable = "TURNSTILE_TEST_PAIR"

// TestPairInAProcess is not a test but a process: it locks one path, says so, waits for a line, and locks the other
// within the lease. It says so, too, and gives everything back.
func TestPairInAProcess(t *testing.T) {
	words := strings.Fields(os.Getenv(pairVariable))
	if len(words) == 0 {
		return
	}
	client, err := locks.Open(scene.Deadline(t), words[0], locks.WithSessionTimeout(scene.Session))
	require.NoError(t, err)
	scene.CountRelists(t, client.Session())
	defer func() { require.NoError(t, client.Close(context.Background())) }()
	outer := scene.Locked(t, client.Mutex(words[1]).Lock)
	scene.Say("holds")
	scene.AwaitGoOn(t)
	inner, err := client.Mutex(words[2]).Lock(outer.Context())
	require.NoError(t, err)
	scene.Say("has both")
	scene.GiveBack(t, inner, outer)
}
