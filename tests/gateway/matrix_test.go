package gateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// fault is one cell of the matrix: what happens while a requester holds by a gateway and another
// contender, with a session of its own, waits. strike may give what ends the fault.
type fault struct {
	name   string
	strike func(t *testing.T, s *stage) (heal func())
}

// Every one of these takes the lock from the requester. The outcome is the same for each, and
// exact: the requester's lease is over, by its own clock, when the other contender holds; its
// context ends with ErrLost; the other's token is greater; and afterwards the requester gets the
// lock again, and no node is left.
var faults = []fault{
	{"silence-to-the-gateway", func(_ *testing.T, s *stage) func() {
		s.inside.road.silence(true)
		return func() { s.inside.road.silence(false) }
	}},
	{"silence-to-the-requester", func(_ *testing.T, s *stage) func() {
		s.outside.road.silence(true)
		return func() { s.outside.road.silence(false) }
	}},
	{"silence-both-ways", func(_ *testing.T, s *stage) func() {
		s.inside.road.silence(true)
		s.outside.road.silence(true)
		return func() { s.inside.road.silence(false); s.outside.road.silence(false) }
	}},
	{"cut-to-the-gateway", func(_ *testing.T, s *stage) func() {
		s.inside.road.cut(true)
		return func() { s.inside.road.cut(false) }
	}},
	{"cut-to-the-requester", func(_ *testing.T, s *stage) func() {
		s.outside.road.cut(true)
		return func() { s.outside.road.cut(false) }
	}},
	{"cut-both-ways", func(_ *testing.T, s *stage) func() {
		s.inside.road.cut(true)
		s.outside.road.cut(true)
		return func() { s.inside.road.cut(false); s.outside.road.cut(false) }
	}},
	{"gateway-cut-from-the-ensemble", func(_ *testing.T, s *stage) func() {
		s.ensemble.cut(true)
		return func() { s.ensemble.cut(false) }
	}},
	{"gateway-silent-to-the-ensemble", func(_ *testing.T, s *stage) func() {
		s.ensemble.silence(true)
		return func() { s.ensemble.silence(false) }
	}},
	{"gateway-actor-stopped", func(t *testing.T, s *stage) func() {
		stopped(t, s.inside.system, s.local())
		return func() { s.again(t) }
	}},
	{"session-of-the-gateway-closed", func(t *testing.T, s *stage) func() {
		s.outside.road.silence(true) // the requester does not hear of it
		patient.Closed(t, s.session.Close(patient.Deadline(t)))
		return func() {
			s.outside.road.silence(false)
			stopped(t, s.inside.system, s.local()) // it ends by itself, about now
			s.session = s.inside.open(t, s.ensemble.address(), short)
			s.again(t)
		}
	}},
}

// again spawns a gateway in the place of one that has ended.
func (s *stage) again(t *testing.T) {
	pid, err := gateway.Spawn(s.inside.system, s.session, s.pid.Id)
	require.NoError(t, err)
	t.Cleanup(func() { s.inside.system.Root.Stop(pid) })
}

// short is a session timeout whose end a test waits for.
const short = 4 * time.Second

func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, short)
			client, other := s.outside.client(t, s.pid), s.direct(t)
			ctx := patient.Deadline(t)
			lease, err := client.Mutex("/matrix").Lock(ctx)
			require.NoError(t, err)
			next := elsewhere(ctx, other.Mutex("/matrix"))
			waits(t, other, lease)

			heal := f.strike(t, s)
			taken := await(t, next)
			valid := lease.Valid() // as soon as the other holds
			require.NoError(t, taken.err)
			require.False(t, valid, "two valid leases")
			await(t, lease.Context().Done())
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
			require.Greater(t, taken.lease.Token(), lease.Token())

			heal()
			require.ErrorIs(t, lease.Unlock(ctx), locks.ErrLost)
			patient.GiveBack(t, taken.lease)
			for err = locks.ErrLost; errors.Is(err, locks.ErrLost); { // a short lease may end before its Unlock
				again, failed := client.Mutex("/matrix").Lock(ctx)
				require.NoError(t, failed)
				require.Greater(t, again.Token(), taken.lease.Token())
				err = again.Unlock(ctx)
			}
			require.NoError(t, err)
			patient.Eventually(t, func() bool { return contenders(t, other, "/matrix") == 0 }, "no node is left")
		})
	}
}

// TestEndpointClosed: connections that break and are made anew cost a holder nothing.
func TestEndpointClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	client, other := s.outside.client(t, s.pid), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := client.Mutex("/kept").Lock(ctx)
	require.NoError(t, err)
	first := lease.Deadline()
	for _, r := range []*road{s.inside.road, s.outside.road, s.inside.road} {
		r.cut(true)
		r.cut(false)
		before := lease.Deadline()
		patient.Eventually(t, func() bool { return lease.Deadline().After(before) }, "it is renewed")
	}
	require.True(t, lease.Valid())
	require.True(t, lease.Deadline().After(first))
	_, err = other.Mutex("/kept").TryLock(ctx)
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	patient.GiveBack(t, lease)
}

// TestWaiterGoesOnAtNextGateway: what waits moves, and what is held is lost in time.
func TestWaiterGoesOnAtNextGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, short)
	second := newNode(t)
	pids := second.gateway(t, second.open(t, s.server.Connect(), patient.Session))
	client, other := s.outside.client(t, s.pid, pids), s.direct(t)
	ctx := patient.Deadline(t)
	busy, err := other.Mutex("/waited-for").Lock(ctx)
	require.NoError(t, err)
	held, err := client.Mutex("/held").Lock(ctx)
	require.NoError(t, err)
	got := elsewhere(ctx, client.Mutex("/waited-for"))
	patient.Eventually(t, func() bool { return contenders(t, other, "/waited-for") == 2 }, "it waits")

	s.inside.road.cut(true)
	s.outside.road.cut(true)
	s.outside.road.cut(false) // the first gateway's node is gone, the second one's is not
	await(t, held.Context().Done())
	require.ErrorIs(t, context.Cause(held.Context()), locks.ErrLost)
	patient.Eventually(t, func() bool {
		queue, err := other.Queue(ctx, "/waited-for")
		return err == nil && len(queue) == 2 && queue[1].Session != s.session.ID()
	}, "it waits at the second gateway, and not at the first any more")
	patient.GiveBack(t, busy)
	taken := await(t, got)
	require.NoError(t, taken.err)
	require.True(t, taken.lease.Valid())
	patient.GiveBack(t, taken.lease)
}

// answer is a result of Lock.
type answer struct {
	lease *locks.Lease
	err   error
}

// elsewhere locks on another goroutine.
func elsewhere(ctx context.Context, lock interface {
	Lock(context.Context) (*locks.Lease, error)
}) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		lease, err := lock.Lock(ctx)
		got <- answer{lease, err}
	}()
	return got
}

// waits waits until another contender queues behind a lease. On a machine that stood still, a short
// lease may be over by then. A test's assertions about the two must hold all the same.
func waits(t *testing.T, other *locks.Client, behind *locks.Lease) {
	t.Helper()
	patient.Eventually(t, func() bool {
		return contenders(t, other, behind.Path()) == 2 || !behind.Valid()
	}, "the other waits")
}

// contenders counts the contenders of a lock path.
func contenders(t *testing.T, client *locks.Client, path string) int {
	t.Helper()
	queue, err := client.Queue(patient.Deadline(t), path)
	require.NoError(t, err, fmt.Sprint(path))
	return len(queue)
}
