package txn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestTxnMakesNoParents: a Create whose parent does not exist is refused, with its path, and nothing is written. With the
// parent's Create before it, in the same transaction, it is carried out.
func TestTxnMakesNoParents(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease, err := client.Mutex("/txn").Lock(patient.Deadline(t))
		require.NoError(t, err)
		for _, create := range []locks.Op{locks.Create("/deep/er", nil), locks.CreateSequential("/deep/er", nil)} {
			_, err = lease.Txn(patient.Deadline(t), create)
			require.ErrorIs(t, err, zkconn.ErrNoNode)
			require.ErrorContains(t, err, "/deep/er")
			require.False(t, locks.MayPass(err))
		}
		made, err := lease.Txn(patient.Deadline(t), locks.Create("/deep", nil), locks.Create("/deep/er", nil))
		require.NoError(t, err)
		require.Equal(t, "/deep/er", made[1].Path)
		patient.GiveBack(t, lease)
	})
}

// TestTxnThatIsTooLarge: it has an error of its own, which does not pass, and the connection and the lease go on.
func TestTxnThatIsTooLarge(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease := patient.Locked(t, client.Mutex("/txn").Lock)
		_, err := lease.Txn(patient.Deadline(t), locks.Create("/large", make([]byte, 2<<20)))
		require.ErrorIs(t, err, locks.ErrTooLarge)
		require.False(t, locks.MayPass(err))
		require.True(t, lease.Valid())
		_, err = lease.Txn(patient.Deadline(t), locks.Create("/large", nil))
		require.NoError(t, err)
		patient.GiveBack(t, lease)
	})
}
