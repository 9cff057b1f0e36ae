package leases

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// outages tells a story for several timeouts and phases, each in virtual time. Heartbeats follow each other every sixth of
// the timeout; the phase goes through the time between two of them.
func outages(t *testing.T, phases int, story func(t *testing.T, timeout, phase time.Duration, d *scene.Network,
	client *locks.Client)) {
	t.Helper()
	for _, timeout := range []time.Duration{4 * time.Second, 10 * time.Second, 30 * time.Second} {
		for phase := range phases {
			t.Run(fmt.Sprintf("%v %d of %d", timeout, phase, phases), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := &scene.Network{Server: scene.Virtual(t, embedded.WithTick(timeout/5))}
					client := scene.ClientOver(t, d.Server, d, locks.WithSessionTimeout(timeout))
					story(t, timeout, timeout*time.Duration(phase)/time.Duration(6*phases), d, client)
				})
			})
		}
	}
}

// TestShortOutagesLoseNoLease: after an outage of 0.2 T, whenever it begins, the lease is as valid as before; and again.
func TestShortOutagesLoseNoLease(t *testing.T) {
	outages(t, 8, func(t *testing.T, timeout, phase time.Duration, d *scene.Network, client *locks.Client) {
		lease := scene.Locked(t, client.Mutex("/outage").Lock)
		for range 5 {
			time.Sleep(timeout + phase)
			tried := d.Outage(timeout / 5)
			require.LessOrEqual(t, tried, 45)
			time.Sleep(timeout / 4)
			require.True(t, lease.Valid())
			require.NoError(t, lease.Context().Err())
		}
		scene.GiveBack(t, lease)
	})
}

// TestReconnectingRenewsTheLeaseAtOnce: when the connection is lost with a heartbeat under way, a transaction is committed
// as soon as there is another connection, and not when the next heartbeat would have been due.
func TestReconnectingRenewsTheLeaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		lease := scene.Locked(t, scene.Client(t, server).Mutex("/outage").Lock)
		time.Sleep(10 * time.Second)
		heartbeat, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Action: embedded.CutBefore})
		require.NoError(t, err)
		require.NoError(t, heartbeat.Wait(t.Context()))
		time.Sleep(200 * time.Millisecond)
		require.Greater(t, time.Until(lease.Deadline()), 8*time.Second, "0.9 T from the connect request")
		scene.GiveBack(t, lease)
	})
}

// TestLongOutagesLoseTheLeaseInTime: in an outage of half a session timeout the lease ends, before the servers end the session.
func TestLongOutagesLoseTheLeaseInTime(t *testing.T) {
	outages(t, 8, func(t *testing.T, timeout, phase time.Duration, d *scene.Network, client *locks.Client) {
		lease := scene.Locked(t, client.Mutex("/outage").Lock)
		time.Sleep(timeout + phase)
		begun := time.Now()
		var lost time.Duration
		stop := context.AfterFunc(lease.Context(), func() { lost = time.Since(begun) })
		defer stop()
		tried := d.Outage(timeout / 2)
		require.LessOrEqual(t, tried, 100, "as fast as that until the lease ends, and no longer")
		synctest.Wait()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.False(t, lease.Valid())
		require.Positive(t, lost)
		require.Less(t, lost, timeout/2)
		again := scene.Locked(t, client.Mutex("/outage").Lock)
		require.Greater(t, again.Token(), lease.Token())
		scene.GiveBack(t, again)
	})
}

// TestWaitersAreNotUrgent: a client that holds nothing reconnects at the ordinary pace.
func TestWaitersAreNotUrgent(t *testing.T) {
	outages(t, 2, func(t *testing.T, timeout, phase time.Duration, d *scene.Network, client *locks.Client) {
		holder := scene.Client(t, d.Server)
		lease := scene.Locked(t, holder.Mutex("/outage").Lock)
		got := scene.Elsewhere(t.Context(), client.Mutex("/outage").Lock)
		scene.Cycle(t, client.Mutex("/mine"))
		time.Sleep(timeout + phase)
		require.LessOrEqual(t, d.Outage(timeout/5), 15, "50 ms and longer each time")
		scene.GiveBack(t, lease)
		a := <-got
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease)
	})
}

// TestCloseUsesItsTime: a client is closed in an outage. With a deadline it tells the servers when they are back, and
// others have its locks then, long before its session would have expired. It gives up by its deadline, or when the session
// has expired. Without a deadline it gives up at once.
func TestCloseUsesItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		patience, outage time.Duration // patience 0: no deadline
		closed           bool
		least, most      time.Duration
	}{
		"the servers come back":            {patience: 5 * time.Second, outage: 2 * time.Second, closed: true, least: 2 * time.Second, most: 3 * time.Second},
		"they do not":                      {patience: 5 * time.Second, outage: time.Minute, least: 4 * time.Second, most: 5 * time.Second},
		"no deadline":                      {outage: 2 * time.Second, most: 100 * time.Millisecond},
		"longer than the session can last": {patience: time.Hour, outage: time.Hour, least: timeout, most: timeout + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, client := scene.Through(t)
				other := scene.Client(t, d.Server)
				lease := scene.Locked(t, client.Mutex("/close").Lock)
				time.Sleep(time.Minute)
				go d.Outage(c.outage)
				time.Sleep(100 * time.Millisecond)

				ctx, cancel := context.WithCancel(t.Context())
				if c.patience > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.patience)
				}
				defer cancel()
				begun := time.Now()
				closed := make(chan error, 1)
				go func() { closed <- client.Close(ctx) }()
				synctest.Wait()
				require.False(t, lease.Valid(), "it is given back at once, whatever becomes of the servers")
				err := <-closed
				took := time.Since(begun)
				require.GreaterOrEqual(t, took, c.least-100*time.Millisecond)
				require.LessOrEqual(t, took, c.most)
				require.Equal(t, err, client.Close(ctx), "again")
				if c.closed {
					require.NoError(t, err)
					scene.GiveBack(t, scene.Locked(t, other.Mutex("/close").TryLock))
				} else {
					require.ErrorIs(t, err, locks.ErrSessionRemains)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// TestOldSessionRemains: a session lapses in an outage, so that the client wants another. The client is closed before the
// servers are back. The log says that the old session was not closed: it keeps others out until it expires.
func TestOldSessionRemains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logger := scene.NewLog()
		d, client := scene.Through(t, logger)
		lease := scene.Locked(t, client.Mutex("/old").Lock)
		waits := scene.Elsewhere(t.Context(), client.Mutex("/old").Lock)
		time.Sleep(time.Minute)
		go d.Outage(time.Hour)
		<-lease.Context().Done()
		time.Sleep(time.Second)
		require.NoError(t, client.Close(t.Context()), "there is no newer session yet")
		require.ErrorIs(t, scene.Receive(t, waits).Err, locks.ErrClosed)
		time.Sleep(2 * time.Hour) // until the outage is over, for the end of the bubble
		require.Equal(t, 1, log.Count("session not closed at the servers"))
	})
}

// TestLeaseInVirtualTime: the holder's server is cut off from the others, and goes on answering pings. The holder gives the
// lock up on its own, by what it has not heard, before the others end its session and the waiter is served.
func TestLeaseInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t, embedded.WithReplicas(3))
		follower := server.Replica(2)
		require.NotEqual(t, follower, server.Leader())
		lease := scene.Locked(t, scene.ClientAt(t, server, follower.Addr()).Mutex("/lease").Lock)
		got := scene.Elsewhere(t.Context(), scene.ClientAt(t, server, server.Addr()).Mutex("/lease").Lock)
		time.Sleep(20 * time.Second) // a new connection's lease is longer

		cut := time.Now()
		follower.CutOff()
		<-lease.Context().Done()
		given := time.Since(cut)
		require.False(t, lease.Valid())
		require.GreaterOrEqual(t, given, time.Duration(zkconn.SteadyLease*float64(timeout))-time.Second/10)
		require.LessOrEqual(t, given, timeout/2)
		a := <-got
		require.NoError(t, a.Err)
		require.Greater(t, time.Since(cut), given)
		require.Greater(t, a.Lease.Token(), lease.Token())
		follower.Rejoin()
	})
}
