package leases

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLocksWithoutIdleSyncs: a client that sends no syncs while it is idle begins a session for the lock after a pause. It
// does not wait for that, however often it happens, and keeps the lock.
func TestLocksWithoutIdleSyncs(t *testing.T) {
	const timeout = 10 * time.Second
	for _, pause := range []float64{0.2, 0.6, 0.8, 1.5, 3} {
		synctest.Test(t, func(t *testing.T) {
			server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(timeout/5))
			client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
				locks.WithSessionTimeout(timeout), locks.WithoutIdleSyncs())
			require.NoError(t, err)
			relists.Count(t, client.Session())
			t.Cleanup(func() {
				require.NoError(t, client.Close(context.WithoutCancel(t.Context())))
				time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
			})
			for range 8 {
				time.Sleep(time.Duration(pause * float64(timeout)))
				asked := time.Now()
				lease, err := client.Mutex("/idle").Lock(t.Context())
				require.NoError(t, err)
				require.Less(t, time.Since(asked), timeout/20, "after a pause of %v T", pause)
				time.Sleep(timeout)
				require.True(t, lease.Valid(), "after a pause of %v T", pause)
				require.NoError(t, lease.Unlock(t.Context()))
			}
		})
	}
}
