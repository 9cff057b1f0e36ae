package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// TestReentry: within a lease the same lock is refused, or counted.
func TestReentry(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		outer, err := client.Mutex("/again").Lock(deadline(t))
		require.NoError(t, err)
		_, err = client.Mutex("/again").Lock(outer.Context())
		require.ErrorIs(t, err, locks.ErrReentry)
		inner, err := client.Mutex("/again", locks.WithReentry()).Lock(outer.Context())
		require.NoError(t, err)
		require.Equal(t, outer.Token(), inner.Token())
		require.NoError(t, outer.Unlock(deadline(t)))
		require.True(t, inner.Valid())
		_, err = open(t, zk.Connect()).Mutex("/again").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, inner.Unlock(deadline(t)))
		require.ErrorIs(t, inner.Unlock(deadline(t)), locks.ErrNotHeld)
		awaitNone(t, zk, "/again")
	})
}
