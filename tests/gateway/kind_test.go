package gateway

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestKindIsSpawned: a node without a session has a node with one spawn a gateway, by its kind, and locks
// there. When it has that gateway stopped, what is held there is lost in time.
func TestKindIsSpawned(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	kind := gateway.Kind(s.session)
	require.Equal(t, gateway.KindName, kind.Kind)
	remote.GetRemote(s.inside.system).Register(kind.Kind, kind.Props)
	var spawned *remote.ActorPidResponse
	scene.Eventually(t, func() bool { // a future may miss its reply
		got, err := remote.GetRemote(s.outside.system).Spawn(s.inside.road.address, gateway.KindName, 5*time.Second)
		spawned = got
		return err == nil && got.StatusCode == remote.ResponseStatusCodeOK.ToInt32()
	}, "the gateway is spawned")
	pid := actor.NewPID(s.inside.road.address, spawned.Pid.Id)
	taken(t, s.outside.client(t, pid), scene.Open(t, s.server.Addr()), func(*locks.Lease) func() {
		s.outside.system.Root.Stop(pid)
		return nil
	})
}
