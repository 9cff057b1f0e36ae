package interop

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clients are the shared workers by their names.
func clients() map[string]*sharedWorker {
	return map[string]*sharedWorker{"curator": curator, "kazoo": kazooed}
}

// benchJob is one that is short, and counts all the same, as it begins when every thread has held.
func benchJob(addr, path string) Job {
	return Job{Name: "bench", Task: Bench, Recipe: Mutex, Connect: addr, Path: path, Threads: 4,
		Span: 300 * time.Millisecond}
}

func TestBenchCounts(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for name, shared := range clients() {
			for _, apart := range []bool{false, true} {
				job := benchJob(s.addr, "/bench-"+name)
				if job.Sessions, job.Apart = 2, apart; apart {
					job.Sessions, job.Path = 1, job.Path+"-apart"
				}
				done, err := shared.Get(t).Run(deadline(t), job)
				require.NoError(t, err, name)
				require.GreaterOrEqual(t, done.Elapsed, job.Span)
				require.Positive(t, done.Acquired)
				require.GreaterOrEqual(t, done.Timing.All, done.Acquired+1)
				if apart {
					continue // nobody hands anything over
				}
				require.Positive(t, done.Timing.Handed)
				require.Positive(t, done.Timing.Median)
				require.GreaterOrEqual(t, done.Timing.P99, done.Timing.Median)
			}
		}
	})
}

func TestBenchCountsInAFile(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for name, shared := range clients() {
			file := newGuardFile(t)
			job := benchJob(s.addr, "/bench-file-"+name)
			job.Guard, job.Process = file, 1
			ended := make(chan error, 1)
			ctx, w := deadline(t), shared.Get(t)
			go func() {
				done, err := w.Run(ctx, job)
				if err == nil && uint64(done.Timing.All) != word(t, file, 2) {
					err = fmt.Errorf("%d grants, and %d in the file", done.Timing.All, word(t, file, 2))
				}
				ended <- err
			}()
			require.Eventually(t, func() bool { return word(t, file, 3) == 4 }, bound, 10*time.Millisecond, name)
			setWord(t, file, 1, 1)
			require.NoError(t, <-ended, name)
			require.Equal(t, word(t, file, 2), word(t, file, 7), "those of process 1")
			require.Zero(t, word(t, file, 0), "nobody holds")
		}
	})
}

// A holder whom the guard does not know of is found out.
func TestBenchFindsASecondHolder(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for name, shared := range clients() {
			file := newGuardFile(t)
			setWord(t, file, 0, 77)
			job := benchJob(s.addr, "/bench-second-"+name)
			job.Guard = file
			_, err := shared.Get(t).Run(deadline(t), job)
			require.ErrorContains(t, err, "was let in beside 77", name)
		}
	})
}

func TestQueueing(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for name, shared := range clients() {
			job := Job{Name: "queue", Task: Queueing, Recipe: Mutex, Connect: s.addr, Path: "/queueing-" + name, Threads: 12}
			done, err := shared.Get(t).Run(deadline(t), job)
			require.NoError(t, err, name)
			require.Equal(t, 13, done.Timing.All)
			require.Positive(t, done.Timing.Queued)
			require.Positive(t, done.Timing.Drained)
			require.Positive(t, done.Timing.Asked)
		}
	})
}

// newGuardFile is a guard's file in which nobody holds.
func newGuardFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guard")
	require.NoError(t, os.WriteFile(file, make([]byte, 64), 0o600))
	return file
}

// word reads a word of a guard's file.
func word(t *testing.T, file string, n int) uint64 {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return 0
	}
	return binary.NativeEndian.Uint64(content[8*n:])
}

// setWord changes a word of a guard's file in place.
func setWord(t *testing.T, file string, n int, value uint64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, value), int64(8*n))
	require.NoError(t, err)
}
