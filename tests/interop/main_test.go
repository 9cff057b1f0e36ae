package interop

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The workers that the tests of this package share: a JVM takes longer to start than most of their
// jobs take.
var (
	curator = &sharedWorker{start: NewCurator}
	kazooed = &sharedWorker{start: NewKazoo}
)

type sharedWorker struct {
	start  func() (*Worker, error)
	once   sync.Once
	worker *Worker
	err    error
}

// Get returns the worker, and shows what it printed when the test fails.
func (s *sharedWorker) Get(t *testing.T) *Worker {
	t.Helper()
	Require(t)
	s.once.Do(func() { s.worker, s.err = s.start() })
	require.NoError(t, s.err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of %s:\n%s", s.worker.kind, s.worker.Output())
		}
	})
	return s.worker
}

func (s *sharedWorker) stop() error {
	if s.worker == nil {
		return nil
	}
	return s.worker.Stop()
}

// TestMain stops the shared workers and servers, and then finds out whether anything is still running.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range []func() error{
		curator.stop, kazooed.stop, lent.stop, RemovePrograms, func() error { return goleak.Find() },
	} {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
