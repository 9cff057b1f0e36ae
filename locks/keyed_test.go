package locks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestNamedForgetsKeys: nothing is kept of keys that nobody holds or waits for, however their calls
// have ended.
func TestNamedForgetsKeys(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	server := embedded.Run(t)
	client, err := Open(ctx, server.Addr())
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close(ctx)) }()
	named := client.Keyed("/named").ByName()
	require.NoError(t, named.Lock(ctx, "held"))
	over, end := context.WithCancel(ctx)
	end()
	for i := range 100 {
		key := fmt.Sprint(i)
		require.NoError(t, named.Lock(ctx, key))
		got, err := named.TryLock(ctx, key)
		require.NoError(t, err)
		require.False(t, got)
		require.Error(t, named.Lock(over, key))
		require.NoError(t, named.Unlock(ctx, key))
		require.ErrorIs(t, named.Unlock(ctx, key), ErrNotHeld)
		require.Error(t, named.Lock(over, key))
	}
	require.Error(t, client.Keyed("").ByName().Lock(ctx, "refused"))
	require.Len(t, named.keys, 1)
	require.NoError(t, named.Unlock(ctx, "held"))
	require.Empty(t, named.keys)
}
