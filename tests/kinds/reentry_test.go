package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReentry: within a lease the same lock is refused, or counted.
func TestReentry(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		outer, err := client.Mutex("/again").Lock(patient.Deadline(t))
		require.NoError(t, err)
		_, err = client.Mutex("/again").Lock(outer.Context())
		require.ErrorIs(t, err, locks.ErrReentry)
		inner, err := client.Mutex("/again", locks.WithReentry()).Lock(outer.Context())
		require.NoError(t, err)
		require.Equal(t, outer.Token(), inner.Token())
		require.NoError(t, outer.Unlock(patient.Deadline(t)))
		require.True(t, inner.Valid())
		_, err = zk.Open(t).Mutex("/again").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, inner.Unlock(patient.Deadline(t)))
		require.ErrorIs(t, inner.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
		stories.AwaitNone(t, zk, "/again")
	})
}
