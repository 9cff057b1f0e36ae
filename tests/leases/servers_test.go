package leases

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// These tests show on every kind of server what others show by the clock of a bubble.

// TestChangesOnServers: a cut, a revoke request, and a loss are told in order.
func TestChangesOnServers(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		h := &patient.Changes{}
		lease := patient.Locked(t, client.Mutex("/change", locks.WithOnChange(h.Hear)).Lock)
		told := func(want ...locks.ChangeKind) {
			t.Helper()
			patient.Eventually(t, func() bool { return len(h.Kinds()) >= len(want) }, "told: %v", h.Kinds())
			require.Equal(t, want, h.Kinds())
		}
		proxy.Cut()
		told(locks.Suspended, locks.Resumed)
		require.True(t, lease.Valid())
		require.NoError(t, client.Ready())
		_, err := zk.Open(t).Revoke(patient.Deadline(t), "/change")
		require.NoError(t, err)
		told(locks.Suspended, locks.Resumed, locks.RevokeRequested)
		require.NoError(t, client.Close(patient.Deadline(t)))
		told(locks.Suspended, locks.Resumed, locks.RevokeRequested, locks.Lost)
		require.ErrorIs(t, h.All[3].Err, locks.ErrClosed)
	})
}

// TestMaxHoldOnServers: a waiter gets the lock of a holder that hangs.
func TestMaxHoldOnServers(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		mine, others := zk.Open(t), zk.Open(t)
		ctx := patient.Deadline(t)
		for ran := false; !ran; { // a hold that ends before its work has begun is tried again
			err := locks.Do(ctx, mine.Mutex("/hold", locks.WithMaxHold(10*time.Millisecond)),
				func(held context.Context, token locks.Token) error {
					ran = true
					// It hangs until the next one has had the lock, and does not look at its context.
					require.NoError(t, locks.Do(ctx, others.Mutex("/hold"), func(_ context.Context, later locks.Token) error {
						require.Greater(t, later, token)
						return nil
					}))
					patient.Receive(t, held.Done()) // a goroutine passes the end of the lease on to it
					require.ErrorIs(t, context.Cause(held), locks.ErrMaxHold)
					return nil
				})
			require.ErrorIs(t, err, locks.ErrMaxHold)
		}
	})
}
