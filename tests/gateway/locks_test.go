package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestLeaseOverGateway: what a lease tells, over real connections, and what a client with a session
// sees of it.
func TestLeaseOverGateway(t *testing.T) {
	s := newStage(t, scene.Session)
	client, direct := s.outside.client(t, s.pid), scene.Open(t, s.server.Addr())
	require.Nil(t, client.Session())
	lease := scene.Locked(t, client.Mutex("/job", locks.WithLabel("over a gateway")).Lock)
	require.True(t, lease.Valid())
	require.False(t, lease.Deadline().IsZero())
	queue := scene.QueueOf(t, client, "/job")
	require.Len(t, queue, 1)
	require.Equal(t, scene.QueueOf(t, direct, "/job"), queue)
	require.Equal(t, "over a gateway", queue[0].Label)
	require.Equal(t, lease.Token(), queue[0].Token)
	require.Equal(t, s.session.ID(), queue[0].Session)
	asked, err := direct.Revoke(scene.Deadline(t), "/job")
	require.NoError(t, err)
	require.Len(t, asked, 1)
	scene.AwaitAsked(t, lease)
	scene.GiveBack(t, lease)
	require.False(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrNotHeld)
}

// TestKindsOverGateway: what package faces does not have over a gateway: an upgrade, an election, and
// a semaphore whose number is changed.
func TestKindsOverGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		ctx := t.Context()
		rw := o.client.RWMutex("/rw")
		one, two := scene.Locked(t, rw.RLock), scene.Locked(t, rw.RLock)
		_, err := rw.TryLock(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		_, err = rw.Lock(one.Context())
		require.ErrorIs(t, err, locks.ErrUpgrade)
		scene.GiveBack(t, one, two)

		term, err := o.client.Election("/election").Campaign(ctx, "me")
		require.NoError(t, err)
		leader, err := o.client.Election("/election").Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, "me", leader.Value)
		require.NoError(t, term.Resign(ctx))

		permit := o.client.Semaphore("/resized", 1).Weight(1)
		holder := scene.Locked(t, permit.Lock)
		waiting := scene.Elsewhere(ctx, permit.Lock)
		queued(t, o.clients[1], "/resized", 2)
		require.NoError(t, o.client.SetPermits(ctx, "/resized", 2))
		got := scene.Receive(t, waiting)
		require.NoError(t, got.Err)
		permits, err := o.client.Permits(ctx, "/resized")
		require.NoError(t, err)
		require.Equal(t, 2, permits)
		for _, refused := range []locks.Locker{o.client.Semaphore("/resized", 3).Weight(3),
			o.client.Semaphore("/resized", 3, locks.WithExactPermits()).Weight(1)} {
			_, err = refused.Lock(ctx)
			require.ErrorIs(t, err, locks.ErrPermits)
			var why *locks.Error
			require.ErrorAs(t, err, &why)
			require.Equal(t, 2, why.Permits)
		}
		scene.GiveBack(t, holder, got.Lease)
	})
}

// TestWhatNeedsSession is refused clearly.
func TestWhatNeedsSession(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		client, ctx := o.client, t.Context()
		lease := scene.Locked(t, client.Mutex("/held").Lock)
		for name, ask := range map[string]func() error{
			"Observe":        func() error { _, err := client.Election("/election").Observe(ctx); return err },
			"ObservePermits": func() error { _, err := client.ObservePermits(ctx, "/permits"); return err },
			"Locks":          func() error { _, err := client.Locks(ctx, "/"); return err },
			"Deadlocks":      func() error { _, err := client.Deadlocks(ctx, "/"); return err },
			"Txn":            func() error { _, err := lease.Txn(ctx, locks.Create("/value", nil)); return err },
			"Get":            func() error { _, _, err := lease.Get(ctx, "/value"); return err },
			"Missing":        func() error { _, err := client.Missing(ctx, "/"); return err },
			"Watch":          func() error { _, err := client.Group("/group").Watch(ctx); return err },
			"Ready":          client.Ready,
		} {
			require.ErrorIs(t, ask(), locks.ErrNeedsSession, name)
		}
		scene.GiveBack(t, lease)
	})
}

// TestMembersHaveNodesOfTheirOwn: also over a gateway whose requests share holds.
func TestMembersHaveNodesOfTheirOwn(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		for range 2 {
			m, err := o.client.Group("/members").Join(t.Context(), "")
			require.NoError(t, err)
			defer func() { scene.Closed(t, m.Leave(context.WithoutCancel(t.Context()))) }()
		}
		members, err := o.client.Group("/members").Members(t.Context())
		require.NoError(t, err)
		require.Len(t, members, 2)
	}, gateway.WithCohort(8))
}
