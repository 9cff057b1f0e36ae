package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// TestContest: whoever makes the node holds.
func TestContest(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		lease, err := one.Contest("/deep/contest").Lock(deadline(t))
		require.NoError(t, err)
		_, err = two.Contest("/deep/contest").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		waiting := elsewhere(deadline(t), two.Contest("/deep/contest").Lock)
		require.NoError(t, lease.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), lease.Token())
		require.NoError(t, got.lease.Unlock(deadline(t)))
	})
}
