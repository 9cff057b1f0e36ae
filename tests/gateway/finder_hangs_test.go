package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
)

// TestFinderHangs: a finder that hangs is called once at a time for a path, whether it heeds its ctx or not. Calls of
// others that wait for it end when their ctx does, and go on when it finds again.
func TestFinderHangs(t *testing.T) {
	for name, heeds := range map[string]bool{"and heeds its ctx": true, "and heeds nothing": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPairOfGateways(t)
				var hangs atomic.Bool
				var inside, most, calls atomic.Int32
				heal := make(chan struct{})
				find := func(ctx context.Context, _ string, _ bool) *actor.PID {
					defer inside.Add(-1)
					most.Store(max(most.Load(), inside.Add(1)))
					calls.Add(1)
					_, bounded := ctx.Deadline()
					switch {
					case !bounded:
						t.Error("a look without a deadline")
					case hangs.Load() && heeds:
						select {
						case <-ctx.Done():
							return nil
						case <-heal:
						}
					case hangs.Load():
						<-heal
					}
					return p.pids[0]
				}
				client, err := gateway.Open(t.Context(), p.system, gateway.Find(find))
				require.NoError(t, err)
				hangs.Store(true)
				calls.Store(0)
				most.Store(0)
				waiting, stop := context.WithCancel(t.Context())
				for range 20 { // questions, which are asked again and again, and requests for one path
					go func() { _, _ = client.Queue(waiting, "/found") }()
					go func() {
						lease, err := client.Mutex("/found").Lock(waiting)
						if err == nil {
							_ = lease.Unlock(t.Context())
						}
					}()
				}
				time.Sleep(time.Minute)
				require.LessOrEqual(t, most.Load(), int32(4), "one for each of two paths, for each of which one finds again")
				if heeds {
					require.LessOrEqual(t, calls.Load(), int32(4*7), "one in ten seconds each")
				} else {
					require.LessOrEqual(t, calls.Load(), int32(4))
				}
				hangs.Store(false)
				close(heal)
				time.Sleep(10 * time.Minute)
				require.Zero(t, inside.Load())
				stop()
				for i := range 3 {
					lease, err := client.Mutex(fmt.Sprint("/after/", i)).Lock(t.Context())
					require.NoError(t, err)
					require.NoError(t, lease.Unlock(t.Context()))
				}
				require.NoError(t, client.Close(t.Context()))
			})
		})
	}
}
