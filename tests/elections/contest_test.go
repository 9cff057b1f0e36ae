package elections

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestContest: the client that makes the node holds.
func TestContest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := patient.Open(t, zk.Connect()), patient.Open(t, zk.Connect())
		lease, err := one.Contest("/deep/contest").Lock(patient.Deadline(t))
		require.NoError(t, err)
		_, err = two.Contest("/deep/contest").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		waiting := patient.Elsewhere(patient.Deadline(t), two.Contest("/deep/contest").Lock)
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), lease.Token())
		require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
	})
}
