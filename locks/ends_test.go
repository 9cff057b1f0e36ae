package locks

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// held gives a lease of the lock at /a, on a server of the test's own.
func held(t *testing.T) *Lease {
	t.Helper()
	client, err := Open(t.Context(), embedded.Run(t).Addr(), WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, client.Close(ctx))
	})
	return locked(t, client.Mutex("/a"))
}

func locked(t *testing.T, mutex *Mutex) *Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lease, err := mutex.Lock(ctx)
	require.NoError(t, err)
	return lease
}

// TestTxnBehindARelease: once the lock is to be given back, by its holder or by somebody who takes
// it away, no transaction begins, though the lease's context has not ended yet: the lock may be
// somebody else's already, with the same node. An earlier transaction keeps it until the test ends.
func TestTxnBehindARelease(t *testing.T) {
	for _, want := range []error{ErrReleased, ErrLost} {
		t.Run(want.Error(), func(t *testing.T) {
			lease := held(t)
			lease.mu.Lock()
			lease.givenBack = want == ErrReleased
			lease.mu.Unlock()
			calls := lease.from.client.calls
			require.True(t, calls.TxnBegun(lease.call))
			defer calls.TxnEnded(lease.hold, true)
			calls.GiveBack(lease.call)
			_, err := lease.Txn(t.Context(), Create("/written", nil))
			require.ErrorIs(t, err, want)
		})
	}
}

// TestUnlockTellsWhatHappened: the release is confirmed as Unlock stops waiting for it. Unlock
// returns what happened, not why it stopped.
func TestUnlockTellsWhatHappened(t *testing.T) {
	lease := held(t)
	over := lease.whenOver()
	lease.Release()
	<-over
	require.NoError(t, lease.unconfirmed(context.Canceled))
	require.ErrorIs(t, lease.unconfirmed(context.Canceled), ErrNotHeld, "it has been told")
}

// TestGrantedAsTheCallerGoes: the lock is granted as the context of Lock ends. Lock gives it back,
// and returns the error of the context.
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
	next := locked(t, first.from.client.Mutex("/a"))
	require.Greater(t, next.Token(), asked.Token())
}
