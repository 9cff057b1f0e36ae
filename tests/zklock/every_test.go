package zklock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hourly is the line of a job that is run once in an hour.
const hourly = "run --at-most-every 1h --label hourly "

// TestAtMostEvery: of two processes the first runs the command, and the second is told who has run
// it, or who runs it now. One that waits finds that it is done. Later it is not due for anybody.
func TestAtMostEvery(t *testing.T) {
	t.Parallel()
	at := here(t)
	first, _ := runs(t, at, hourly+"/job -- sh -c", holding)
	stdout, stderr := says(t, at, 75, hourly+"/job -- echo ran")
	require.Empty(t, stdout)
	require.Contains(t, stderr, fmt.Sprintf("somebody is at it (process %d on ", first.Pid()))
	require.Contains(t, stderr, "the command was not run")
	waits := start(t, at, hourly+"--wait 1m /job -- echo ran")
	awaitQueue(t, at, "/job", 1, 1)
	first.leaves(t)
	waits.ends(t, 75)
	_, late := says(t, at, 75, hourly+"/job -- echo ran")
	for _, text := range []string{waits.stderr(t), late} {
		require.Contains(t, text, "/job: not due for 59m")
		require.Contains(t, text, `by "hourly", process `+fmt.Sprint(first.Pid()))
		require.Contains(t, text, "the command was not run")
		require.Equal(t, 1, strings.Count(text, "\n"))
	}
	require.Empty(t, waits.stdout(t)+first.stderr(t))
	awaitQueue(t, at, "/job", 0, 0)
	stdout, _ = says(t, at, 0, "run --at-most-every 1ms /job -- echo ran")
	require.Equal(t, "ran\n", stdout)
}

// TestAtMostEveryAfterAFailure: a command that fails, that is asked to give the lock back, or that
// is killed with its zklock is run again by the next to come, and at once by one that waits.
func TestAtMostEveryAfterAFailure(t *testing.T) {
	t.Parallel()
	at := here(t)
	says(t, at, 7, hourly+"/job -- sh -c", "exit 7")
	says(t, at, 126, hourly+"/job -- /")

	revoked, _ := runs(t, at, hourly+"/job -- sh -c", "trap 'exit 0' TERM; "+polite)
	waits := start(t, at, hourly+"--wait 1m /job -- sh -c", holding)
	awaitQueue(t, at, "/job", 1, 1)
	says(t, at, 0, "revoke /job")
	revoked.ends(t, 80)
	waits.up(t)
	require.NoError(t, waits.Kill())

	stdout, _ := says(t, at, 0, hourly+"--wait 1m /job -- echo ran")
	require.Equal(t, "ran\n", stdout)
	says(t, at, 75, hourly+"/job -- echo ran")
}
