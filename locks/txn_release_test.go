package locks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestTxnBehindARelease: once the lock is to be given back no transaction begins, though the
// lease's context has not ended yet: the lock may be somebody else's already, with the same node.
func TestTxnBehindARelease(t *testing.T) {
	client, err := Open(t.Context(), embedded.Run(t).Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	lease, err := client.Mutex("/txn").Lock(t.Context())
	require.NoError(t, err)
	lease.mu.Lock()
	lease.givenBack = true
	lease.mu.Unlock()
	client.calls.GiveBack(lease.call)
	_, err = lease.Txn(t.Context(), Create("/written", nil))
	require.ErrorIs(t, err, ErrReleased)
}
