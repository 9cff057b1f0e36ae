package adapters

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// eachServer runs a test on the embedded server, and on a real one.
func eachServer(t *testing.T, run func(t *testing.T, servers string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t).Connect()) })
	t.Run("real", func(t *testing.T) {
		rig.Require(t)
		run(t, rig.StartStandalone(t).Addr())
	})
}

// gate counts who comes, and lets nobody go on until it is opened.
type gate struct {
	came   atomic.Int32
	inside chan struct{} // receives when somebody has come
	opened chan struct{}
}

func newGate() *gate { return &gate{inside: make(chan struct{}, 10), opened: make(chan struct{})} }

func (g *gate) pass(ctx context.Context) (number int32, err error) {
	number = g.came.Add(1)
	g.inside <- struct{}{}
	select {
	case <-g.opened:
		return number, nil
	case <-ctx.Done():
		return number, ctx.Err()
	}
}

// awaitQueue waits until so many hold a lock or wait for it.
func awaitQueue(t *testing.T, servers, path string, n int) {
	t.Helper()
	client := scene.Open(t, servers)
	scene.Eventually(t, func() bool { return len(scene.QueueOf(t, client, path)) == n }, "%d in the queue at %s", n, path)
}
