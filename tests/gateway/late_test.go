package gateway

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLateRequestIsOver: a copy of a request comes so late that its requester has ended and the gateway does not know of
// that. The requester's node says so to the reply that finds nobody, and the lock is free. By itself the gateway would
// give it back after a session timeout without a word, which is longer here than the test waits.
func TestLateRequestIsOver(t *testing.T) {
	const forever = 10 * time.Minute
	inside, outside := newNode(t), newNode(t)
	inside.connect(t, outside)
	server := embedded.Run(t, embedded.WithSessionTimeouts(200*time.Millisecond, forever))
	session := inside.open(t, server.Addr(), forever)
	require.Equal(t, forever, session.Timeout())
	pid := inside.gateway(t, session)
	client := outside.client(t, pid)
	lease, err := client.Mutex("/input").Lock(patient.Deadline(t))
	require.NoError(t, err)

	begun, ended := make(chan struct{}), make(chan struct{})
	requester := outside.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
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
	outside.system.Root.RequestWithCustomSender(pid, late, requester)
	await(t, begun)
	await(t, ended)
	patient.GiveBack(t, lease) // the late one is next

	lease, err = client.Mutex("/input").Lock(patient.Deadline(t))
	require.NoError(t, err, "the lock is held for nobody")
	patient.GiveBack(t, lease)
}
