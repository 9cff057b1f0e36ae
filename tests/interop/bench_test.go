package interop

import (
	"encoding/binary"
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

// newGuardFile is a guard's file in which nobody holds.
func newGuardFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guard")
	require.NoError(t, os.WriteFile(file, make([]byte, 64), 0o600))
	return file
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
