package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestLeaseOverGateway: what a lease tells, over a gateway.
func TestLeaseOverGateway(t *testing.T) {
	s := newStage(t, patient.Session)
	client, direct := s.outside.client(t, s.pid), s.direct(t)
	require.Nil(t, client.Session())
	ctx := patient.Deadline(t)

	lease, err := client.Mutex("/job", locks.WithLabel("over a gateway")).Lock(ctx)
	require.NoError(t, err)
	require.True(t, lease.Valid())
	require.NoError(t, lease.Context().Err())
	require.NotZero(t, lease.Token())
	require.False(t, lease.Deadline().IsZero())

	queue, err := client.Queue(ctx, "/job")
	require.NoError(t, err)
	require.Len(t, queue, 1)
	seen, err := direct.Queue(ctx, "/job")
	require.NoError(t, err)
	require.Equal(t, seen, queue)
	require.True(t, queue[0].Holds)
	require.Equal(t, "over a gateway", queue[0].Label)
	require.Equal(t, lease.Token(), queue[0].Token)
	require.Equal(t, s.session.ID(), queue[0].Session)

	_, err = direct.Mutex("/job").TryLock(ctx)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	asked, err := direct.Revoke(ctx, "/job")
	require.NoError(t, err)
	require.Len(t, asked, 1)
	await(t, lease.Revoked())

	require.NoError(t, lease.Unlock(ctx))
	require.False(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(ctx), locks.ErrNotHeld)
	next, err := direct.Mutex("/job").Lock(ctx)
	require.NoError(t, err)
	require.Greater(t, next.Token(), lease.Token())
	_, err = client.Mutex("/job").TryLock(ctx)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.NoError(t, next.Unlock(ctx))
}

// TestKindsOverGateway: every kind of lock, and what one caller may do with it.
func TestKindsOverGateway(t *testing.T) {
	s := newStage(t, patient.Session)
	client := s.outside.client(t, s.pid)
	ctx := patient.Deadline(t)

	rw := client.RWMutex("/rw")
	one, err := rw.RLock(ctx)
	require.NoError(t, err)
	two, err := rw.RLock(ctx)
	require.NoError(t, err)
	_, err = rw.TryLock(ctx)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	_, err = rw.Lock(one.Context())
	require.ErrorIs(t, err, locks.ErrUpgrade)
	require.NoError(t, one.Unlock(ctx))
	require.NoError(t, two.Unlock(ctx))

	permits := client.Semaphore("/semaphore", 2)
	first, err := permits.Acquire(ctx, 1)
	require.NoError(t, err)
	second, err := permits.Acquire(ctx, 1)
	require.NoError(t, err)
	_, err = permits.TryAcquire(ctx, 1)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.NoError(t, first.Unlock(ctx))
	require.NoError(t, second.Unlock(ctx))

	contest, err := client.Contest("/contest").Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, contest.Unlock(ctx))

	term, err := client.Election("/election").Campaign(ctx, "me")
	require.NoError(t, err)
	leader, err := client.Election("/election").Leader(ctx)
	require.NoError(t, err)
	require.Equal(t, "me", leader.Value)
	require.NoError(t, term.Resign(ctx))

	outer, err := client.Mutex("/again", locks.WithReentry()).Lock(ctx)
	require.NoError(t, err)
	again, err := client.Mutex("/again", locks.WithReentry()).Lock(outer.Context())
	require.NoError(t, err)
	require.Equal(t, outer.Token(), again.Token())
	_, err = client.Mutex("/again").Lock(outer.Context())
	require.ErrorIs(t, err, locks.ErrReentry)
	require.NoError(t, again.Unlock(ctx))
	require.NoError(t, outer.Unlock(ctx))

	all, err := locks.All(ctx, client.Mutex("/b"), client.Mutex("/a"))
	require.NoError(t, err)
	require.Equal(t, "/a", all.Each()[0].Path())
	require.NoError(t, all.Unlock(ctx))

	require.NoError(t, client.SetPermits(ctx, "/permits", 3))
}

// TestSemaphoreOverGatewayIsResized: the number at the lock path counts there, too, and errors have it.
func TestSemaphoreOverGatewayIsResized(t *testing.T) {
	s := newStage(t, patient.Session)
	client, ctx := s.outside.client(t, s.pid), patient.Deadline(t)
	holder, err := client.Semaphore("/resized", 1).Acquire(ctx, 1)
	require.NoError(t, err)
	waiting := patient.Elsewhere(ctx, func(ctx context.Context) (*locks.Lease, error) {
		return client.Semaphore("/resized", 1).Acquire(ctx, 1)
	})
	direct := s.direct(t)
	patient.Eventually(t, func() bool { return len(patient.QueueOf(t, direct, "/resized")) == 2 }, "it does not queue")
	require.NoError(t, client.SetPermits(ctx, "/resized", 2))
	got := patient.Receive(t, waiting)
	require.NoError(t, got.Err)
	permits, err := client.Permits(ctx, "/resized")
	require.NoError(t, err)
	require.Equal(t, 2, permits)
	var why *locks.Error
	for _, refused := range []struct {
		opts []locks.LockOption
		n    int
	}{{nil, 3}, {[]locks.LockOption{locks.WithExactPermits()}, 1}} {
		_, err = client.Semaphore("/resized", 3, refused.opts...).Acquire(ctx, refused.n)
		require.ErrorIs(t, err, locks.ErrPermits)
		require.ErrorAs(t, err, &why)
		require.Equal(t, 2, why.Permits)
	}
	require.NoError(t, holder.Unlock(ctx))
	require.NoError(t, got.Lease.Unlock(ctx))
}

// TestWhatNeedsSession is refused clearly.
func TestWhatNeedsSession(t *testing.T) {
	s := newStage(t, patient.Session)
	client := s.outside.client(t, s.pid)
	ctx := patient.Deadline(t)
	_, err := client.Election("/election").Observe(ctx)
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, err = client.ObservePermits(ctx, "/permits")
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, err = client.Locks(ctx, "/")
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, err = client.Deadlocks(ctx, "/")
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	lease, err := client.Mutex("/held").Lock(ctx)
	require.NoError(t, err)
	_, err = lease.Txn(ctx, locks.Create("/value", nil))
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, _, err = lease.Get(ctx, "/value")
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, err = client.Missing(ctx, "/")
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	_, err = client.Group("/group").Watch(ctx)
	require.ErrorIs(t, err, locks.ErrNeedsSession)
	require.ErrorIs(t, client.Ready(), locks.ErrNeedsSession) // whom a Lock waited for needs none: see TestTimeoutsSayBehindWhomOverGateway
	require.NoError(t, lease.Unlock(ctx))
}

// TestCloseGivesBack: what a client holds and waits for over a gateway ends with the client.
func TestCloseGivesBack(t *testing.T) {
	s := newStage(t, patient.Session)
	client, direct := s.outside.client(t, s.pid), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := client.Mutex("/held").Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, client.Close(ctx))
	require.False(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(ctx), locks.ErrLost)
	_, err = client.Mutex("/held").Lock(ctx)
	require.ErrorIs(t, err, locks.ErrClosed)
	next, err := direct.Mutex("/held").Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, next.Unlock(ctx))
	queue, err := direct.Queue(ctx, "/held")
	require.NoError(t, err)
	require.Empty(t, queue)
}
