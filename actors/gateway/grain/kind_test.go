package grain_test

import (
	"io"
	"log/slog"
	"path"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
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
			"\xff", "x-lock-0000000001"} {
			want := of("/grains", kind, identity)
			require.NoError(t, actors.CheckAcquire(want), "%q", want.Path)
			_, contender := queue.Parse(path.Base(want.Path))
			require.False(t, contender, "%q is the name of a contender", want.Path)
			require.Empty(t, seen[want.Path], "%q and %q", seen[want.Path], identity)
			seen[want.Path] = kind + " " + identity
		}
	}
}
