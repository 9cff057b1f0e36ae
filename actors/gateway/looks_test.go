package gateway

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
)

// TestFinderHangs: a finder that hangs is called once at a time for a path, whether it heeds its ctx or not. Who waits for
// it is told after a while that nothing is found, and who comes later at once. It is called again when it has returned.
func TestFinderHangs(t *testing.T) {
	for name, heeds := range map[string]bool{"and heeds its ctx": true, "and heeds nothing": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, told atomic.Int32
				var hangs atomic.Bool
				hangs.Store(true)
				heal, pid := make(chan struct{}), actor.NewPID("far:1", "gateway")
				looks := Find(func(ctx context.Context, _ string, _ bool) *actor.PID {
					calls.Add(1)
					over := ctx.Done()
					if !heeds {
						over = nil
					}
					if hangs.Load() {
						select {
						case <-over:
						case <-heal:
						}
						return nil
					}
					return pid
				}).find
				look := func(path string, want *actor.PID) {
					looks.look(path, false, func(found *actor.PID) {
						require.Equal(t, want, found)
						told.Add(1)
					})
				}
				for range 20 {
					look("/a", nil)
					look("/b", nil)
				}
				time.Sleep(lookBound - 1)
				require.Zero(t, told.Load())
				require.Equal(t, int32(2), calls.Load(), "one for each path")
				time.Sleep(2 * time.Nanosecond)
				synctest.Wait()
				require.Equal(t, int32(40), told.Load())
				look("/a", nil)
				synctest.Wait()
				if !heeds {
					require.Equal(t, int32(41), told.Load(), "at once")
					require.Equal(t, int32(2), calls.Load())
				}
				hangs.Store(false)
				close(heal)
				synctest.Wait()
				look("/a", pid)
				synctest.Wait()
				require.Equal(t, int32(42), told.Load())
			})
		})
	}
}
