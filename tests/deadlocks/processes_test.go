package deadlocks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// pairVariable makes TestPairInAProcess a process of TestProcessesInADeadlock: it holds the server, and the paths of
// the lock to hold and of the one to want then.
const pairVariable = "TURNSTILE_TEST_PAIR"

// TestPairInAProcess is not a test but a process: it locks one path, says so, waits for a line, and locks the other
// within the lease. Then it says how that ended, and gives everything back.
func TestPairInAProcess(t *testing.T) {
	words := strings.Fields(os.Getenv(pairVariable))
	if len(words) == 0 {
		return
	}
	client, err := locks.Open(patient.Deadline(t), words[0], locks.WithSessionTimeout(patient.Session))
	require.NoError(t, err)
	relists.Count(t, client.Session())
	defer func() { require.NoError(t, client.Close(context.Background())) }()
	outer := patient.Locked(t, client.Mutex(words[1]).Lock)
	stories.Say("holds")
	stories.AwaitGoOn(t)
	inner, err := client.Mutex(words[2], locks.WithDeadlockDetection("/", often)).Lock(outer.Context())
	switch {
	case errors.Is(err, locks.ErrDeadlock):
		stories.Say("gave up:", err)
	case err != nil:
		stories.Say(err)
	default:
		stories.Say("has both")
		patient.GiveBack(t, inner)
	}
	patient.GiveBack(t, outer)
}

func startPair(t *testing.T, connect, first, second string) *stories.Process {
	t.Helper()
	return stories.StartProcess(t, "TestPairInAProcess", pairVariable, strings.Join([]string{connect, first, second}, " "))
}

// TestProcessesInADeadlock: each holds what the other wants. Exactly one gives up, with the names of both, and the
// other gets its lock.
func TestProcessesInADeadlock(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := startPair(t, at.Connect(), "/x", "/y"), startPair(t, at.Connect(), "/y", "/x")
		for _, p := range []*stories.Process{one, two} {
			require.Equal(t, "holds", p.Hear(t))
		}
		for _, p := range []*stories.Process{one, two} {
			p.GoOn(t)
		}
		said := []string{one.Hear(t), two.Hear(t)}
		if said[0] == "has both" {
			said[0], said[1] = said[1], said[0]
		}
		require.True(t, strings.HasPrefix(said[0], "gave up: "), "%v", said)
		require.Equal(t, "has both", said[1])
		for _, p := range []*stories.Process{one, two} {
			require.Contains(t, said[0], fmt.Sprintf("/%d/", p.Pid()))
			<-p.Exited()
			require.NoError(t, p.Err())
		}
		stories.AwaitNone(t, at, "/x")
		stories.AwaitNone(t, at, "/y")
	})
}
