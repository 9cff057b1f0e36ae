package readme

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// What the README shows of tests with the embedded server.

func TestSampleOfATest(t *testing.T) {
	ctx := patient.Deadline(t)
	server := embedded.Run(t) // closed with the test
	client, err := locks.Open(ctx, server.Addr())
	require.NoError(t, err)
	lockAndClose(t, ctx, client)
}

func TestSampleOfABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		server := embedded.Run(t, embedded.WithoutNetwork())
		client, err := locks.Open(ctx, server.Addr(), locks.WithDialer(server.DialContext))
		require.NoError(t, err)
		lockAndClose(t, ctx, client)
	})
}

func lockAndClose(t *testing.T, ctx context.Context, client *locks.Client) {
	t.Helper()
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.True(t, lease.Valid())
	require.NoError(t, lease.Unlock(ctx))
	require.NoError(t, client.Close(ctx))
}
