package locks

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// held gives a lease on a server of the test's own.
func held(t *testing.T) *Lease {
	t.Helper()
	client, err := Open(t.Context(), embedded.Run(t).Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	lease, err := client.Mutex("/a").Lock(t.Context())
	require.NoError(t, err)
	return lease
}

// TestTxnBehindARelease: once the lock is to be given back, by its holder or by somebody who takes it away, no transaction
// begins, though the lease's context has not ended yet: the lock may be somebody else's already, with the same node.
func TestTxnBehindARelease(t *testing.T) {
	for _, want := range []error{ErrReleased, ErrLost} {
		t.Run(want.Error(), func(t *testing.T) {
			lease := held(t)
			lease.mu.Lock()
			lease.givenBack = want == ErrReleased
			lease.mu.Unlock()
			calls := lease.from.client.calls
			calls.GiveBack(lease.call)
			_, err := lease.Txn(t.Context(), Create("/written", nil))
			require.ErrorIs(t, err, want)
		})
	}
}

// TestUnlockTellsWhatHappened: the lock is known to have been given back as Unlock gives up waiting for that.
func TestUnlockTellsWhatHappened(t *testing.T) {
	lease := held(t)
	lease.Release()
	<-lease.whenOver()
	require.NoError(t, lease.unconfirmed(context.Canceled))
	require.ErrorIs(t, lease.unconfirmed(context.Canceled), ErrNotHeld, "it has been told")
}

// TestGrantedAsTheCallerGoes: a context has ended, and Lock finds that it has been granted the lock. It gives that back, and
// no lease.
func TestGrantedAsTheCallerGoes(t *testing.T) {
	first := held(t)
	asked := &Lease{from: first.from, values: t.Context()}
	k := (*call)(asked)
	answered := k.begin(nil)
	require.NotNil(t, answered)
	first.Release()
	require.Eventually(t, func() bool { return len(answered) == 1 }, time.Minute, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, k.giveUp(ctx, answered), context.Canceled)
	require.False(t, asked.Valid())
	next, err := first.from.client.Mutex("/a").Lock(t.Context())
	require.NoError(t, err)
	require.Greater(t, next.Token(), asked.Token())
}
