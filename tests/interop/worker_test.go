package interop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	job := Job{
		Name: "n", Task: Timeout, Recipe: Read, Connect: "localhost:1/x", Path: "/p", Witness: "w:2",
		Names: CuratorNames, Sessions: 2, Threads: 3, Rounds: 4, Permits: 5, Hold: time.Second,
		Patience: 2 * time.Second, SessionTimeout: 3 * time.Second, Limit: 4 * time.Second,
	}
	require.Equal(t, []string{
		"name=n", "task=timeout", "recipe=read", "connect=localhost:1/x", "path=/p", "witness=w:2",
		"names=curator", "sessions=2", "threads=3", "rounds=4", "permits=5", "hold_ms=1000",
		"patience_ms=2000", "session_timeout_ms=3000", "limit_ms=4000",
	}, job.Arguments())
	require.Equal(t, "n/2.1", job.Holder(2, 1))
	require.NoError(t, job.check())
	job.Path = "/two words"
	require.Error(t, job.check())
}

func TestSummary(t *testing.T) {
	s, err := parseSummary([]string{"acquired=3", "timed_out=2", "elapsed_us=1500"})
	require.NoError(t, err)
	require.Equal(t, Summary{Acquired: 3, TimedOut: 2, Elapsed: 1500 * time.Microsecond}, s)
	for _, word := range []string{"acquired", "acquired=x", "lost=1"} {
		_, err := parseSummary([]string{word})
		require.Error(t, err)
	}
}

// echoing is a worker that is a shell.
func echoing(t *testing.T, script string) *Worker {
	t.Helper()
	w, err := newWorker("shell", "sh", "-c", script)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.process.Kill() })
	return w
}

func TestOutcomes(t *testing.T) {
	w := echoing(t, `
		read id rest; echo chatter; echo "done $id acquired=1 timed_out=0 elapsed_us=2"
		read id rest; echo more >&2; echo "failed $id because of that"
		read id rest; echo "done $id nonsense"
		read rest # an end of the process would be an outcome, too
		exit 0`)
	summary, err := w.Run(deadline(t), Job{})
	require.NoError(t, err)
	require.Equal(t, 1, summary.Acquired)
	_, err = w.Run(deadline(t), Job{})
	require.ErrorContains(t, err, "because of that")
	_, err = w.Run(deadline(t), Job{})
	require.ErrorContains(t, err, "nonsense")
	require.NoError(t, w.Stop())
	require.Contains(t, w.Output(), "chatter\n")
	require.Contains(t, w.Output(), "more\n")
}

func TestAWorkerThatEndsFailsItsJobs(t *testing.T) {
	w := echoing(t, `read id rest; echo dying >&2; exit 3`)
	_, err := w.Run(deadline(t), Job{})
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "dying")
	_, err = w.Run(deadline(t), Job{})
	require.Error(t, err)
	require.Error(t, w.Stop())
}

func TestAJobIsGivenUpWithItsContext(t *testing.T) {
	w := echoing(t, `while read id rest; do :; done`)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := w.Run(ctx, Job{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, w.Stop())
}

// The reason why a job of a worker failed reaches the test.
func TestAFailedJobSaysWhy(t *testing.T) {
	for name, shared := range map[string]*sharedWorker{"curator": curator, "kazoo": kazooed} {
		t.Run(name, func(t *testing.T) {
			w := shared.Get(t)
			_, err := w.Run(deadline(t), Job{Task: "juggling", Recipe: Mutex, Connect: "-", Path: "/x"})
			require.ErrorContains(t, err, "no task is named juggling")
			_, err = w.Run(deadline(t), Job{Recipe: Mutex, Connect: "-"})
			require.ErrorContains(t, err, "path")
		})
	}
}

func TestAStartedWorkerEndsWithItsTest(t *testing.T) {
	Require(t)
	for name, start := range map[string]func(testing.TB) *Worker{"curator": StartCurator, "kazoo": StartKazoo} {
		var w *Worker
		require.True(t, t.Run(name, func(t *testing.T) { w = start(t) }))
		require.False(t, w == nil || w.process.Running(), name)
	}
}
