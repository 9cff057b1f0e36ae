package gateway

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestKindIsSpawned: a node without a session has a node with one spawn a gateway, by its kind, and locks
// there. When it has that gateway stopped, what is held there is lost in time.
func TestKindIsSpawned(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	kind := gateway.Kind(s.session)
	require.Equal(t, gateway.KindName, kind.Kind)
	remote.GetRemote(s.inside.system).Register(kind.Kind, kind.Props)

	abroad := remote.GetRemote(s.outside.system)
	var spawned *remote.ActorPidResponse
	patient.Eventually(t, func() bool { // a future may miss its reply
		got, err := abroad.Spawn(s.inside.road.address(), gateway.KindName, 5*time.Second)
		spawned = got
		return err == nil && got.StatusCode == remote.ResponseStatusCodeOK.ToInt32()
	}, "the gateway is spawned")
	pid := actor.NewPID(spawned.Pid.Address, spawned.Pid.Id)
	require.Equal(t, s.inside.road.address(), pid.Address)

	client, other := s.outside.client(t, pid), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := client.Mutex("/kind").Lock(ctx)
	require.NoError(t, err)
	for !lease.Valid() { // a short one may be over by now
		lease, err = client.Mutex("/kind").Lock(ctx)
		require.NoError(t, err)
	}
	next := elsewhere(ctx, other.Mutex("/kind"))
	waits(t, other, lease)
	s.outside.system.Root.Stop(pid)
	taken := await(t, next)
	valid := lease.Valid()
	require.NoError(t, taken.err)
	require.False(t, valid, "two valid leases")
	await(t, lease.Context().Done())
	require.Greater(t, taken.lease.Token(), lease.Token())
	patient.GiveBack(t, taken.lease)
	patient.Eventually(t, func() bool { return contenders(t, other, "/kind") == 0 }, "no node is left")
}
