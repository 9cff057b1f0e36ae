package tests

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestSuspendedWhileDisconnected: the machine is suspended during an outage. Timers have stood still, and no heartbeat
// comes back: the holder hears all the same that its lease is over.
func TestSuspendedWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		var suspended atomic.Int64
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
			locks.WithSessionTimeout(timeout),
			locks.WithSuspendedTime(func() time.Duration { return time.Duration(suspended.Load()) }))
		require.NoError(t, err)
		defer func() {
			patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		}()
		lease, err := client.Mutex("/suspended").Lock(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		unreachable(server)
		time.Sleep(time.Millisecond)
		require.True(t, lease.Valid())
		require.Greater(t, time.Until(lease.Deadline()), timeout/6)

		suspended.Store(int64(time.Hour))
		resumed := time.Now()
		require.False(t, lease.Valid())
		<-lease.Context().Done()
		require.LessOrEqual(t, time.Since(resumed), timeout/50)
	})
}
