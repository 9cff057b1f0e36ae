package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestTxnMakesNoParents: a Create whose parent does not exist is refused, with its path, and nothing is written. With the
// parent's Create before it, in the same transaction, it is carried out.
func TestTxnMakesNoParents(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		lease, err := client.Mutex("/txn").Lock(deadline(t))
		require.NoError(t, err)
		for _, create := range []locks.Op{locks.Create("/deep/er", nil), locks.CreateSequential("/deep/er", nil)} {
			_, err = lease.Txn(deadline(t), create)
			require.ErrorIs(t, err, zkconn.ErrNoNode)
			require.ErrorContains(t, err, "/deep/er")
			require.False(t, locks.MayPass(err))
		}
		made, err := lease.Txn(deadline(t), locks.Create("/deep", nil), locks.Create("/deep/er", nil))
		require.NoError(t, err)
		require.Equal(t, "/deep/er", made[1].Path)
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}

// TestTxnThatIsTooLarge: it has an error of its own, which does not pass, and the connection and the lease go on.
func TestTxnThatIsTooLarge(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		lease, err := client.Mutex("/txn").Lock(deadline(t))
		require.NoError(t, err)
		_, err = lease.Txn(deadline(t), locks.Create("/large", make([]byte, 2<<20)))
		require.ErrorIs(t, err, locks.ErrTooLarge)
		require.False(t, locks.MayPass(err))
		require.True(t, lease.Valid())
		_, err = lease.Txn(deadline(t), locks.Create("/large", nil))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}
