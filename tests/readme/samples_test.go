package readme

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestSample is the test with the embedded server that the page on testing shows.
func TestSample(t *testing.T) {
	ctx := scene.Deadline(t)
	server := embedded.Run(t) // closed with the test
	opening, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := locks.Open(opening, server.Addr())
	require.NoError(t, err)
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.True(t, lease.Valid())
	require.NoError(t, lease.Unlock(ctx))
	require.NoError(t, client.Close(ctx))
}
