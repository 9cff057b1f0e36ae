package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestSingletonOverGateways: a singleton without a session competes with one that has a session. Its gateway is
// stopped: it loses the lock in time, and campaigns at the other gateway.
func TestSingletonOverGateways(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		want := messages.Acquire{Path: "/singleton"}
		active := make(chan *actors.Activation, 9)
		child := func(name string) *actor.Props {
			return actor.PropsFromFunc(func(ctx actor.Context) {
				switch msg := ctx.Message().(type) {
				case *actors.Activation:
					active <- msg
				case string:
					ctx.Respond(name + " has " + msg)
				}
			})
		}
		requireActive := func(pid *actor.PID, name string) {
			t.Helper()
			answer, err := o.system.Root.RequestFuture(pid, "heard", time.Minute).Result()
			require.NoError(t, err)
			require.Equal(t, name+" has heard", answer)
		}
		over := o.system.Root.Spawn(gateway.NewSingleton(o.at, want, child("over a gateway")))
		first := scene.Receive(t, active)
		direct := o.system.Root.Spawn(actors.NewSingleton(o.clients[1].Session(), want, child("direct")))
		queued(t, o.clients[1], want.Path, 2)
		requireActive(over, "over a gateway")
		time.Sleep(5 * time.Minute)
		require.True(t, first.Valid())
		require.Empty(t, active)

		o.system.Root.Stop(o.pids[0])
		second := scene.Receive(t, active)
		require.False(t, first.Valid(), "two are valid")
		require.ErrorIs(t, context.Cause(first.Context), actors.ErrSingletonLost)
		requireActive(direct, "direct")
		require.Greater(t, second.Token, first.Token)
		queued(t, o.clients[1], want.Path, 2) // it waits at the other gateway
		o.system.Root.Stop(direct)
		require.Greater(t, scene.Receive(t, active).Token, second.Token)
		requireActive(over, "over a gateway")
		o.system.Root.Stop(over)
		queued(t, o.clients[1], want.Path, 0)
	})
}
