package interop

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The workers that the tests of this package share: a JVM takes longer to start than most of their
// jobs take.
var (
	curator = share(func() (*Worker, error) { return NewCuratorWith() })
	kazooed = share(NewKazoo)
)

// sharedWorker gives a worker, and shows what it printed when the test fails.
type sharedWorker func(t *testing.T) *Worker

func share(start func() (*Worker, error)) sharedWorker {
	once := sync.OnceValues(start)
	var stop sync.Once
	return func(t *testing.T) *Worker {
		t.Helper()
		Require(t)
		worker, err := once()
		require.NoError(t, err)
		stop.Do(func() { scene.AtEnd(worker.Stop) })
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("output of %s:\n%s", worker.kind, worker.Output())
			}
		})
		return worker
	}
}

func TestMain(m *testing.M) {
	scene.AtEnd(RemovePrograms)
	scene.Main(m)
}
