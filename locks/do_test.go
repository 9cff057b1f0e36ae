package locks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestWorkDoesNotBeginAfterTheLease: where the lock was lost between its grant and the beginning of the work, as in a
// process that was paused, the work is not called, and the error says why.
func TestWorkDoesNotBeginAfterTheLease(t *testing.T) {
	client, err := Open(t.Context(), embedded.Run(t).Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
	lease, err := client.Mutex("/late").Lock(t.Context())
	require.NoError(t, err)
	queue, err := client.Queue(t.Context(), "/late")
	require.NoError(t, err)
	require.Len(t, queue, 1)
	require.NoError(t, client.Break(t.Context(), queue[0]))
	<-lease.Context().Done()

	err = lease.run(t.Context(), func(context.Context) error {
		t.Error("the work was called")
		return nil
	})
	require.ErrorIs(t, err, ErrLost)
	require.NotErrorIs(t, err, context.Canceled)
}
