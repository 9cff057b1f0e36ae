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
		outer := patient.Locked(t, client.Mutex("/again").Lock)
		_, err := client.Mutex("/again").Lock(outer.Context())
		require.ErrorIs(t, err, locks.ErrReentry)
		inner, err := client.Mutex("/again", locks.WithReentry()).Lock(outer.Context())
		require.NoError(t, err)
		require.Equal(t, outer.Token(), inner.Token())
		patient.GiveBack(t, outer)
		require.True(t, inner.Valid())
		_, err = zk.Open(t).Mutex("/again").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		patient.GiveBack(t, inner)
		require.ErrorIs(t, inner.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
		stories.AwaitNone(t, zk, "/again")
	})
}
