package zklock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestGoneBeforeTheNext: a machine is cut off from the servers while its command has the lock, and another machine's
// command waits. The first command is gone before the second can begin. The servers' clock shows the last moment at which
// the session must live, and stands still until then: whether the machine stands still meanwhile does not matter.
// locks/COMPARISON.md has figures beside those of consul lock, whose session has the same timeout.
func TestGoneBeforeTheNext(t *testing.T) {
	t.Parallel()
	const timeout = 15 * time.Second
	clock := embedded.NewManualClock(time.Now())
	at := here(t)
	at.addr = embedded.Run(t, embedded.WithClock(clock)).Addr()
	seen, proxy := at.behind(t)
	first, pids := runs(t, seen, "run --session-timeout % /next -- sh -c", timeout.String(), polite)
	second := start(t, at, "run --session-timeout % /next -- sh -c", (2 * timeout).String(), polite)
	awaitQueue(t, at, "/next", 1, 1)
	cut := time.Now()
	proxy.Refuse(true)
	proxy.Cut()
	clock.Advance(timeout - 1)
	first.ends(t, 79)
	require.NotContains(t, first.stderr(t), "the lease is about to end", "that is for --early")
	t.Logf("cut off, with a session timeout of %v: the command is gone after %.1f s", timeout, time.Since(cut).Seconds())
	require.False(t, alive(pids[0]))
	require.NotContains(t, second.stdout(t), "up ")
	awaitQueue(t, at, "/next", 1, 1)
	clock.Advance(timeout / 2)
	second.up(t)
	require.NoError(t, second.Kill())
}
