package zklock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGoneBeforeTheNext: a machine is cut off from the servers while its command has the lock, and another machine's
// command waits. The first command is gone before the second begins. locks/COMPARISON.md has the figures that it logs,
// beside those of consul lock, whose session has the same timeout.
func TestGoneBeforeTheNext(t *testing.T) {
	t.Parallel()
	for attempt := 1; ; attempt++ {
		at := here(t)
		seen, proxy := at.behind(t)
		flags := []string{"run", "--session-timeout", "15s", "/next", "--", "sh", "-c", polite}
		first, pids := runs(t, seen, flags...)
		second := start(t, at, flags...)
		awaitQueue(t, at, "/next", 1, 1)
		cut := time.Now()
		proxy.Refuse(true)
		proxy.Cut()
		first.ends(t, 79)
		gone, early := time.Since(cut), strings.Contains(second.stdout(t), "up ")
		require.False(t, alive(pids[0]))
		second.up(t)
		t.Logf("cut off, with a session timeout of 15 s: the command is gone after %.1f s, and the next one begins after %.1f s",
			gone.Seconds(), time.Since(cut).Seconds())
		require.NoError(t, second.Kill())
		if !early {
			return
		}
		// A machine may stand still from the lease's end to that of the session.
		require.Less(t, attempt, 5, "the next command began before the first was gone")
	}
}
