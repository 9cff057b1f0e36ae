package leases

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// heap gives the bytes in use, without garbage, once timers and the throttles of dead letters have
// ended.
func heap() int64 {
	time.Sleep(10 * time.Minute)
	var m runtime.MemStats
	for range 3 { // what finalizers let go of, too
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestKeptHandlesAreSmall: programs keep clients that they have closed, and leases that are over,
// in structs that live on. The sessions and locks behind them do not.
func TestKeptHandlesAreSmall(t *testing.T) {
	const many, most = 10, 64 << 10
	for name, end := range map[string]func(context.Context, *locks.Client, *locks.Lease) any{
		"client": func(ctx context.Context, client *locks.Client, lease *locks.Lease) any {
			scene.GiveBack(t, lease)
			require.NoError(t, client.Close(ctx))
			return client
		},
		"lease that was given back": func(ctx context.Context, client *locks.Client, lease *locks.Lease) any {
			scene.GiveBack(t, lease)
			require.NoError(t, client.Close(ctx))
			return lease
		},
		"lease that was lost": func(ctx context.Context, client *locks.Client, lease *locks.Lease) any {
			require.NoError(t, client.Close(ctx))
			require.ErrorIs(t, lease.Unlock(ctx), locks.ErrLost)
			return lease
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, ctx := scene.Virtual(t), t.Context() // one context: a lease keeps its own
				hold := func() (*locks.Client, *locks.Lease) {
					client, err := locks.Open(ctx, server.Connect(), locks.WithDialer(server.DialContext))
					require.NoError(t, err)
					for i := range 10 { // what a session remembers of lock paths that it has used
						scene.Cycle(t, client.Mutex(fmt.Sprint("/kept/", i)))
					}
					return client, scene.Locked(t, client.Mutex("/kept/last").Lock)
				}
				keep := func() any {
					client, lease := hold()
					return end(ctx, client, lease)
				}
				keep() // what is made once
				kept := make([]any, 0, many)
				before := heap()
				for range many {
					kept = append(kept, keep())
				}
				each := (heap() - before) / many
				t.Logf("%d bytes each", each)
				require.Less(t, each, int64(most))
				runtime.KeepAlive(kept)
			})
		})
	}
}
