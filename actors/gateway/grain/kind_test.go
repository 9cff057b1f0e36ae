package grain_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestPath: each identity of each kind has a lock path of its own, which is well formed.
func TestPath(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	defer system.Shutdown()
	of := func(base, kind, identity string) messages.Acquire {
		want := make(chan messages.Acquire, 1)
		props := actor.PropsFromFunc(func(actor.Context) {}, actor.WithReceiverMiddleware(
			func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					if _, starts := env.Message.(*actor.Started); starts {
						want <- grain.Path(base)(c)
					}
					next(c, env)
				}
			}))
		pid := system.Root.Spawn(cluster.WithClusterIdentity(props, cluster.NewClusterIdentity(identity, kind)))
		defer system.Root.Stop(pid)
		return <-want
	}
	require.Equal(t, "/grains/account/7", of("/grains", "account", "7").Path)
	require.Equal(t, "/account/7", of("/", "account", "7").Path)
	require.Equal(t, "account/7", of("/grains", "account", "7").Label)
	seen := map[string]string{}
	for _, kind := range []string{"a", "a/b", "."} {
		for _, identity := range []string{"", ".", "..", "%", "%.", "%25", "a", "b/a", "a/b", "/", "ä", "\x00", "a b",
			"\xff"} {
			want := of("/grains", kind, identity)
			require.NoError(t, actors.CheckAcquire(want), "%q", want.Path)
			require.Empty(t, seen[want.Path], "%q and %q", seen[want.Path], identity)
			seen[want.Path] = kind + " " + identity
		}
	}
}

// TestKindWithOptions: the gateway of the grains has the options of their kind.
func TestKindWithOptions(t *testing.T) {
	server := embedded.Run(t)
	over, err := locks.Open(t.Context(), server.Connect())
	require.NoError(t, err)
	t.Cleanup(func() { _ = over.Close(context.WithoutCancel(t.Context())) })
	system := over.System()
	pid := system.Root.Spawn(grain.Kind(over.Session(), gateway.WithMaxRequests(1)).Props)
	client, err := gateway.Open(t.Context(), system, gateway.At(pid))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	_, err = client.Mutex("/first").Lock(t.Context())
	require.NoError(t, err)
	_, err = client.Mutex("/second").Lock(t.Context())
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, string(messages.ReasonGatewayFull))
}
