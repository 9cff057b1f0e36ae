package gateway

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// short is a session timeout whose end a test waits for.
const short = 4 * time.Second

// taken has a fault take a lock from a client over a gateway while another contender, with a session
// of its own, waits. The outcome is the same for every fault, and exact: the client's lease is over,
// by its own clock, when the other holds; its context ends with ErrLost; the other's token is
// greater; and no node is left. Where the fault ends, the client gets the lock again.
func taken(t *testing.T, client, other *locks.Client, strike func(lease *locks.Lease) (heal func())) {
	t.Helper()
	ctx := scene.Deadline(t)
	lease := scene.LockAt(t, client, "/taken")
	next := scene.Elsewhere(ctx, other.Mutex("/taken").Lock)
	// On a machine that stood still, a short lease may be over by now.
	scene.Eventually(t, func() bool { return len(scene.QueueOf(t, other, "/taken")) == 2 || !lease.Valid() }, "the other waits")
	promised := lease.Deadline()

	heal := strike(lease)
	got := scene.Receive(t, next)
	now, valid := time.Now(), lease.Valid() // as soon as the other holds
	require.NoError(t, got.Err)
	require.False(t, valid, "two valid leases")
	require.False(t, now.Before(promised), "granted %v before a promise had run out", promised.Sub(now))
	scene.AwaitLost(t, lease)
	require.Greater(t, got.Lease.Token(), lease.Token())
	if heal == nil {
		scene.GiveBack(t, got.Lease)
	} else {
		heal()
		require.ErrorIs(t, lease.Unlock(ctx), locks.ErrLost)
		scene.GiveBack(t, got.Lease)
		for err := locks.ErrLost; errors.Is(err, locks.ErrLost); { // a short lease may end before its Unlock
			again := scene.LockAt(t, client, "/taken")
			require.Greater(t, again.Token(), got.Lease.Token())
			err = again.Unlock(ctx)
		}
	}
	queued(t, other, "/taken", 0)
}

// TestMatrix: faults of the network between the nodes.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ inside, outside scene.NetworkState }{
		"silence-to-the-gateway":   {scene.Silent, scene.Up},
		"silence-to-the-requester": {scene.Up, scene.Silent},
		"silence-both-ways":        {scene.Silent, scene.Silent},
		"cut-to-the-gateway":       {scene.Down, scene.Up},
		"cut-to-the-requester":     {scene.Up, scene.Down},
		"cut-both-ways":            {scene.Down, scene.Down},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, short)
			taken(t, s.outside.client(t, s.pid), scene.Open(t, s.server.Addr()), func(*locks.Lease) func() {
				s.inside.road.be(c.inside)
				s.outside.road.be(c.outside)
				return func() { s.inside.road.be(scene.Up); s.outside.road.be(scene.Up) }
			})
		})
	}
}

// TestGatewayFails: faults of the gateway's session, and ends of its actor.
func TestGatewayFails(t *testing.T) {
	stop := func(t *testing.T, o *office, _ *locks.Lease) func() {
		stopped(t, o.system, o.pids[0])
		return func() { o.gateway(0) }
	}
	cohort := gateway.WithCohort(3)
	for name, c := range map[string]struct {
		strike func(t *testing.T, o *office, lease *locks.Lease) (heal func())
		opts   []gateway.Option
	}{
		"cut from the servers": {func(_ *testing.T, o *office, _ *locks.Lease) func() {
			o.lines[0].Be(scene.Down)
			return func() { o.lines[0].Be(scene.Up) }
		}, nil},
		"silent to the servers": {func(_ *testing.T, o *office, _ *locks.Lease) func() {
			o.lines[0].Be(scene.Silent)
			return func() { o.lines[0].Be(scene.Up) }
		}, nil},
		// What it promises after the servers have fallen silent lasts no longer than its own lease.
		"silent to the servers, and then to the requester": {func(_ *testing.T, o *office, _ *locks.Lease) func() {
			o.lines[0].Be(scene.Silent)
			time.Sleep(scene.Session / 4)
			o.silent[0].Store(true)
			return func() { o.lines[0].Be(scene.Up); o.silent[0].Store(false) }
		}, nil},
		"stopped":              {stop, nil},
		"stopped, of a cohort": {stop, []gateway.Option{cohort}},
		"its session is closed, and the requester does not hear of it": {func(t *testing.T, o *office, _ *locks.Lease) func() {
			o.silent[0].Store(true)
			scene.Closed(t, o.clients[0].Close(t.Context()))
			return nil
		}, nil},
		// A node that may not be deleted ends the session that made it, which is left to expire.
		"its session may not delete a node": {func(t *testing.T, o *office, _ *locks.Lease) func() {
			const noAuth = -102
			stays := scene.Locked(t, o.client.Mutex("/stays").Lock)
			_, err := o.server.Inject(embedded.Fault{Op: embedded.OpDelete, Path: "/stays/*", Action: embedded.Refuse, Code: noAuth, Count: -1})
			require.NoError(t, err)
			require.Error(t, stays.Unlock(t.Context()))
			return func() {}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(t *testing.T, o *office) {
				one := o.over(gateway.At(o.pids[0]))
				taken(t, one, o.clients[1], func(lease *locks.Lease) func() { return c.strike(t, o, lease) })
			}, c.opts...)
		})
	}
}

// TestEndpointClosed: connections that break and are made anew cost a holder nothing.
func TestEndpointClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t, scene.Session)
	lease := scene.LockAt(t, s.outside.client(t, s.pid), "/kept")
	for _, r := range []*road{s.inside.road, s.outside.road, s.inside.road} {
		r.be(scene.Down)
		r.be(scene.Up)
		before := lease.Deadline()
		scene.Eventually(t, func() bool { return lease.Deadline().After(before) }, "it is renewed")
	}
	scene.GiveBack(t, lease)
}
