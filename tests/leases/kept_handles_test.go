package leases

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// heap gives the bytes in use, without garbage.
func heap() int64 {
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
	server, ctx := embedded.Run(t), t.Context() // one context: a lease keeps its own
	hold := func() (*locks.Client, *locks.Lease) {
		client, err := locks.Open(ctx, server.Addr(), locks.WithSessionTimeout(scene.Session))
		require.NoError(t, err)
		for i := range 10 { // what a session remembers of lock paths that it has used
			scene.Cycle(t, client.Mutex(fmt.Sprint("/kept/", i)))
		}
		return client, scene.Locked(t, client.Mutex("/kept/last").Lock)
	}
	for name, end := range map[string]func(*locks.Client, *locks.Lease) any{
		"client": func(client *locks.Client, lease *locks.Lease) any {
			scene.GiveBack(t, lease)
			require.NoError(t, client.Close(ctx))
			return client
		},
		"lease that was given back": func(client *locks.Client, lease *locks.Lease) any {
			scene.GiveBack(t, lease)
			require.NoError(t, client.Close(ctx))
			return lease
		},
		"lease that was lost": func(client *locks.Client, lease *locks.Lease) any {
			require.NoError(t, client.Close(ctx))
			require.ErrorIs(t, lease.Unlock(ctx), locks.ErrLost)
			return lease
		},
	} {
		t.Run(name, func(t *testing.T) {
			end(hold()) // what is made once
			kept := make([]any, 0, many)
			before := heap()
			for range many {
				kept = append(kept, end(hold()))
			}
			var each int64
			scene.Eventually(t, func() bool { // timers and the throttles of dead letters run on for a while
				each = (heap() - before) / many
				return each < most
			}, "each is small")
			t.Logf("%d bytes each", each)
			runtime.KeepAlive(kept)
		})
	}
}
