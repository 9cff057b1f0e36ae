package grain

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestKindWithOptions: the gateway of the grains has the options of their kind. (The props of the kind itself need a cluster).
func TestKindWithOptions(t *testing.T) {
	server := embedded.Run(t)
	over, err := locks.Open(t.Context(), server.Connect())
	require.NoError(t, err)
	scene.CountRelists(t, over.Session())
	t.Cleanup(func() { _ = over.Close(context.WithoutCancel(t.Context())) })
	system := over.System()
	pid := system.Root.Spawn(props(over.Session(), gateway.WithMaxRequests(1)))
	client, err := gateway.Open(t.Context(), system, gateway.At(pid))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	_, err = client.Mutex("/first").Lock(t.Context())
	require.NoError(t, err)
	_, err = client.Mutex("/second").Lock(t.Context())
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, string(messages.ReasonGatewayFull))
}
