package gateway

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestLateRequestIsOver: a copy of a request comes so late that its requester has ended and the gateway does not know of
// that. The requester's node says so to the reply that finds nobody, and the lock is free. By itself the gateway would
// give it back after a session timeout without a word, which is longer here than the test waits.
func TestLateRequestIsOver(t *testing.T) {
	s := newStage(t, forever)
	require.Equal(t, forever, s.session.Timeout())
	client := s.outside.client(t, s.pid)
	lease := scene.LockAt(t, client, "/input")

	begun, ended := make(chan struct{}), make(chan struct{})
	requester := s.outside.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch reply := ctx.Message().(type) {
		case *wire.Reply: // the copy has begun the request
			if reply.Standing == wire.Standing_ACCEPTED {
				close(begun)
				ctx.Stop(ctx.Self())
			}
		case *actor.Stopped:
			close(ended)
		}
	}))
	late := asked(func(r *wire.Request) { r.Id, r.Number = "late", 7 })
	s.outside.system.Root.RequestWithCustomSender(s.pid, late, requester)
	scene.Receive(t, begun)
	scene.Receive(t, ended)
	scene.GiveBack(t, lease)                             // the late one is next
	scene.GiveBack(t, scene.LockAt(t, client, "/input")) // and does not hold for nobody
}
