package interop

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// echoing is a worker that is a shell.
func echoing(t *testing.T, script string) *Worker {
	t.Helper()
	w, err := newWorker("shell", []string{"sh", "-c", script}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Kill() })
	return w
}

func TestOutcomes(t *testing.T) {
	ctx := scene.Deadline(t)
	w := echoing(t, `
		read id rest; echo chatter; echo "done $id acquired=1 timed_out=2 elapsed_us=1500"
		read id rest; echo more >&2; echo "failed $id because of that"
		read id rest; echo "done $id lost=1"
		read id rest; echo "done $id acquired=x"
		read id rest
		read id rest; echo dying >&2; exit 3`)
	summary, err := w.Run(ctx, Job{})
	require.NoError(t, err)
	require.Equal(t, Summary{Acquired: 1, TimedOut: 2, Elapsed: 1500 * time.Microsecond}, summary)
	for _, reason := range []string{"because of that", "lost=1", "acquired=x"} {
		_, err = w.Run(ctx, Job{})
		require.ErrorContains(t, err, reason)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = w.Run(short, Job{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = w.Run(ctx, Job{})
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "dying")
	require.Error(t, w.Stop())
	require.Contains(t, w.Output(), "chatter\n")
	require.Contains(t, w.Output(), "more\n")
}

// The reason why a job of a worker failed reaches the test: so that nobody takes a second holder for a grant, one whom
// the guard of benchmarks does not know of is found out.
func TestAFailedJobSaysWhy(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, worker := range []sharedWorker{curator, kazooed} {
			w := worker(t)
			_, err := w.Run(scene.Deadline(t), Job{Task: "juggling", Recipe: Mutex, Connect: "-", Path: "/x"})
			require.ErrorContains(t, err, "no task is named juggling")
			file := filepath.Join(t.TempDir(), "guard")
			require.NoError(t, os.WriteFile(file, append(binary.NativeEndian.AppendUint64(nil, 77), make([]byte, 56)...), 0o600))
			_, err = w.Run(scene.Deadline(t), Job{Name: "bench", Task: Bench, Recipe: Mutex, Connect: s.Connect(), Path: "/bench-" + w.kind,
				Threads: 4, Span: 300 * time.Millisecond, Guard: file})
			require.ErrorContains(t, err, "was let in beside 77", w.kind)
		}
	})
}
