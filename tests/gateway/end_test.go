package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestBrokenLeaseIsLost: an owner whose lease has a gap is told that the lock is lost, though the
// gateway promises more and more.
func TestBrokenLeaseIsLost(t *testing.T) {
	s := newStage(t, patient.Session)
	at := gateway.At(s.pid)
	observer, told := s.outside.listener(t)
	near := actor.NewPID(s.outside.system.Address(), observer.Id)
	s.outside.system.Root.Spawn(gateway.NewLock(at, messages.Acquire{Path: "/gap"}, actors.WithObserver(near)))
	held, lock := notice[*messages.Held](t, told)
	clock := at.Clock(held.Epoch)
	require.True(t, clock.Unbroken(held.Term))
	clock.End() // stands for any gap: the run in which the lock was granted is over
	s.outside.system.Root.Send(lock, &wire.Reply{Version: wire.Version, Id: "something happens"})
	lost, _ := notice[*messages.Lost](t, told)
	require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
	direct := s.direct(t)
	lease := patient.Locked(t, direct.Mutex("/gap").Lock)
	patient.GiveBack(t, lease)
}

// TestGatewayEndsWithSession: a gateway whose session has ended for good stops.
func TestGatewayEndsWithSession(t *testing.T) {
	s := newStage(t, short)
	client := s.outside.client(t, s.pid)
	lease := patient.Locked(t, client.Mutex("/ends").Lock)
	s.inside.system.Root.Stop(s.session.PID())
	await(t, lease.Context().Done())
	patient.Eventually(t, func() bool {
		_, there := s.inside.system.ProcessRegistry.GetLocal(s.pid.Id)
		return !there
	}, "the gateway stops")
}

// TestClosedGatewayMayPass: a gateway that is closed does not look to a client as if the client
// were closed: a client that tries again may find another gateway at its address.
func TestClosedGatewayMayPass(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	client, other := s.outside.client(t, s.pid), s.direct(t)
	ctx := patient.Deadline(t)
	_, err := client.Mutex("/held").Lock(ctx) // so that the gateway has something to wait for
	require.NoError(t, err)
	_, err = other.Mutex("/waits").Lock(ctx)
	require.NoError(t, err)
	waiter := elsewhere(ctx, client.Mutex("/waits"))
	patient.Eventually(t, func() bool { return contenders(t, other, "/waits") == 2 }, "the client waits")
	closed := make(chan error, 1)
	go func() { closed <- s.session.Close(ctx) }()
	end := await(t, waiter)
	require.NotErrorIs(t, end.err, locks.ErrClosed)
	require.NotErrorIs(t, end.err, context.Canceled)
	require.ErrorIs(t, end.err, locks.ErrFailed)
	require.True(t, locks.MayPass(end.err), end.err)
	patient.Closed(t, await(t, closed))
}

// TestAskEndsWithClient: a query that no gateway answers ends with the client.
func TestAskEndsWithClient(t *testing.T) {
	s := newStage(t, patient.Session)
	client := s.outside.client(t, s.pid)
	stopped(t, s.inside.system, s.local())
	asked := make(chan struct{}, 100)
	_, err := s.inside.system.Root.SpawnNamed(actor.PropsFromFunc(func(ctx actor.Context) {
		if query, is := ctx.Message().(*wire.Query); is && query.GetHello() == nil {
			asked <- struct{}{}
		}
	}), s.pid.Id)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := client.Queue(context.WithoutCancel(t.Context()), "/nobody-answers")
		ended <- err
	}()
	patient.Receive(t, asked)
	require.NoError(t, client.Close(patient.Deadline(t)))
	require.ErrorIs(t, await(t, ended), locks.ErrClosed)
}

// TestDoomedSessionExpires: a node that may not be deleted ends the session that made it. Leases
// that the gateway has granted by it last until they run out, even so.
func TestDoomedSessionExpires(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	raw := patient.Raw(t, patient.Session, s.server.Addr())
	_, err := raw.Create("/stays", nil, 0, zk.WorldACL(zk.PermAll&^zk.PermDelete))
	require.NoError(t, err)

	client, other := s.outside.client(t, s.pid), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := client.Mutex("/doomed").Lock(ctx)
	require.NoError(t, err)
	stays, err := client.Mutex("/stays").Lock(ctx)
	require.NoError(t, err)
	next := elsewhere(ctx, other.Mutex("/doomed"))
	waits(t, other, lease)
	promised := lease.Deadline()
	_ = stays.Unlock(ctx)
	taken := await(t, next)
	now := time.Now()
	require.NoError(t, taken.err)
	require.False(t, now.Before(promised), "granted %v before a promise had run out", promised.Sub(now))
	require.False(t, lease.Valid())
}
