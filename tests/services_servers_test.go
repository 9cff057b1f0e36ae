package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// What other tests show by the clock of a bubble, on every kind of server.

// TestChangesOnServers: a cut, a revoke request, and a loss are told in order.
func TestChangesOnServers(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		h := &changesHeard{}
		lease := locked(t, client.Mutex("/change", locks.WithOnChange(h.hear)).Lock)
		told := func(want ...locks.ChangeKind) {
			t.Helper()
			eventually(t, func() bool { return len(h.kinds()) >= len(want) }, "told: %v", h.kinds())
			require.Equal(t, want, h.kinds())
		}
		proxy.Cut()
		told(locks.Suspended, locks.Resumed)
		require.True(t, lease.Valid())
		require.NoError(t, client.Ready())
		_, err := open(t, zk.Connect()).Revoke(deadline(t), "/change")
		require.NoError(t, err)
		told(locks.Suspended, locks.Resumed, locks.RevokeRequested)
		require.NoError(t, client.Close(deadline(t)))
		told(locks.Suspended, locks.Resumed, locks.RevokeRequested, locks.Lost)
		require.ErrorIs(t, h.all[3].Err, locks.ErrClosed)
	})
}

// TestMaxHoldOnServers: whoever waits gets the lock of a holder that hangs.
func TestMaxHoldOnServers(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		mine, others := open(t, zk.Connect()), open(t, zk.Connect())
		ctx := deadline(t)
		for ran := false; !ran; { // a hold that ends before its work has begun is tried again
			err := locks.Do(ctx, mine.Mutex("/hold", locks.WithMaxHold(10*time.Millisecond)),
				func(held context.Context, token locks.Token) error {
					ran = true
					// It hangs until the next one has had the lock, and does not look at its context.
					require.NoError(t, locks.Do(ctx, others.Mutex("/hold"), func(_ context.Context, later locks.Token) error {
						require.Greater(t, later, token)
						return nil
					}))
					require.ErrorIs(t, context.Cause(held), locks.ErrMaxHold)
					return nil
				})
			require.ErrorIs(t, err, locks.ErrMaxHold)
		}
	})
}

// TestPrioritiesOnServers: the better place leads, though it came last.
func TestPrioritiesOnServers(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		among := leaders{real: true}
		const after = 200 * time.Millisecond
		low := lead(deadline(t), open(t, zk.Connect()).Election("/lead", locks.WithPriority(1, after)), "low", &among)
		one := low.term(t)
		high := lead(deadline(t), open(t, zk.Connect()).Election("/lead", locks.WithPriority(2, after)), "high", &among)
		require.Greater(t, high.term(t).Token(), one.Token())
		require.ErrorIs(t, context.Cause(one.Context()), locks.ErrReleased, "it was asked, and has resigned")
		require.ErrorIs(t, high.end(t), context.Canceled)
		low.term(t)
		require.ErrorIs(t, low.end(t), context.Canceled)
		_, err := open(t, zk.Connect()).Election("/lead", locks.WithPriority(-1, 0)).Campaign(deadline(t), "x")
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	})
}
