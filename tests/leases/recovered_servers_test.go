package leases

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// Servers are so slow for some minutes that each session lapses, and are quick again then. A waiter whose next session
// was to begin much later is granted its lock soon after, and not when that pause is over.
func TestQuickServersEndAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const session = 10 * time.Second // the timeout of bubble.OpenClient
		server := bubble.Server(t)
		holder := bubble.Client(t, server)
		var delay atomic.Int64
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithSessionTimeout(session),
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := server.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return slowly(conn, func() time.Duration { return time.Duration(delay.Load()) }), nil
			}))
		require.NoError(t, err)
		bubble.CloseLater(t, client)
		for round := range 5 {
			lease := bubble.Locked(t, holder.Mutex("/slow").Lock)
			delay.Store(int64(session / 8)) // a round trip takes a quarter
			mutex, rec := patient.Recorded(t, client, "/slow")
			waiting := patient.Elsewhere(t.Context(), mutex.Lock)
			patient.Await(t, rec, messages.StateWatching)
			time.Sleep(20 * session)
			for !client.State().Lapsed {
				time.Sleep(session / 10)
			}
			time.Sleep(session) // it has been replaced if it was to be at once
			require.True(t, client.State().Lapsed)

			delay.Store(0)
			quick := time.Now()
			bubble.GiveBack(t, lease)
			got := patient.Receive(t, waiting)
			require.NoError(t, got.Err)
			t.Logf("round %d: granted %v after the servers' recovery", round, time.Since(quick))
			require.LessOrEqual(t, time.Since(quick), session+2*time.Second)
			require.True(t, got.Lease.Valid())
			bubble.GiveBack(t, got.Lease)
		}
	})
}
