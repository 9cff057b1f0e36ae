package zklock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// every gives the arguments of a job that is run once in an hour.
func every(flags ...string) []string {
	return patiently("run", append([]string{"--at-most-every", "1h", "--label", "hourly"}, flags...)...)
}

// TestAtMostEvery: of two processes the first runs the command, and the second is told who has run
// it, or who runs it now. One that waits finds that it is done. Later it is not due for anybody.
func TestAtMostEvery(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		first, _ := runs(t, at, every("/job", "--", "sh", "-c", holding)...)
		stdout, stderr := says(t, at, 75, every("/job", "--", "echo", "ran")...)
		require.Empty(t, stdout)
		require.Contains(t, stderr, fmt.Sprintf("somebody is at it (process %d on ", first.Pid()))
		require.Contains(t, stderr, "the command was not run")
		waits := start(t, at, every("--wait", "1m", "/job", "--", "echo", "ran")...)
		awaitQueue(t, at, "/job", 1, 1)
		first.letGo()
		first.ends(t, 0)
		waits.ends(t, 75)
		_, late := says(t, at, 75, every("/job", "--", "echo", "ran")...)
		for _, text := range []string{waits.stderr(t), late} {
			require.Contains(t, text, "/job: not due for 59m")
			require.Contains(t, text, `by "hourly", process `+fmt.Sprint(first.Pid()))
			require.Contains(t, text, "the command was not run")
			require.Equal(t, 1, strings.Count(text, "\n"))
		}
		require.Empty(t, waits.stdout(t)+first.stderr(t))
		awaitQueue(t, at, "/job", 0, 0)
		stdout, _ = says(t, at, 0, patiently("run", "--at-most-every", "1ms", "/job", "--", "echo", "ran")...)
		require.Equal(t, "ran\n", stdout)
	})
}

// TestAtMostEveryAfterAFailure: a command that fails, that is asked to give the lock back, or that
// is killed with its zklock is run again by the next to come, and at once by one that waits.
func TestAtMostEveryAfterAFailure(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		says(t, at, 7, every("/job", "--", "sh", "-c", "exit 7")...)
		says(t, at, 126, every("/job", "--", "/")...)

		revoked, _ := runs(t, at, every("/job", "--", "sh", "-c", "trap 'exit 0' TERM; "+polite)...)
		waits := start(t, at, every("--wait", "1m", "/job", "--", "sh", "-c", holding)...)
		awaitQueue(t, at, "/job", 1, 1)
		says(t, at, 0, patiently("revoke", "/job")...)
		revoked.ends(t, 80)
		waits.up(t)
		require.NoError(t, waits.Kill())

		stdout, _ := says(t, at, 0, every("--wait", "1m", "/job", "--", "echo", "ran")...)
		require.Equal(t, "ran\n", stdout)
		says(t, at, 75, every("/job", "--", "echo", "ran")...)
	})
}

// TestAtMostEveryByManyProcesses: ten processes come at the same time, as from crontabs, and the command runs once.
func TestAtMostEveryByManyProcesses(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		log := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(log, nil, 0o600))
		var all []*process
		for range 10 {
			all = append(all, start(t, at, every("/job", "--", "sh", "-c", "echo $ZKLOCK_TOKEN >>"+log)...))
		}
		ran := 0
		for _, p := range all {
			switch status := p.status(t); status {
			case 0:
				ran++
			default:
				require.Equal(t, 75, status, p.stderr(t))
			}
		}
		require.Equal(t, 1, ran)
		require.Len(t, strings.Fields(read(t, log)), 1)
	})
}
