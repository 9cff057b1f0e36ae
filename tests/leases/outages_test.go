package leases

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// outages tells a story for several timeouts and phases, each in virtual time. Heartbeats follow each other every sixth of
// the timeout; the phase goes through the time between two of them.
func outages(t *testing.T, phases int, story func(t *testing.T, timeout, phase time.Duration, d *bubble.Network,
	client *locks.Client)) {
	t.Helper()
	for _, timeout := range []time.Duration{4 * time.Second, 10 * time.Second, 30 * time.Second} {
		for phase := range phases {
			t.Run(fmt.Sprintf("%v %d of %d", timeout, phase, phases), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(timeout/5))
					d := &bubble.Network{Server: server}
					client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(d.Dial), locks.WithSessionTimeout(timeout))
					require.NoError(t, err)
					relists.Count(t, client.Session())
					t.Cleanup(func() {
						require.NoError(t, client.Close(context.WithoutCancel(t.Context())))
						time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
					})
					story(t, timeout, timeout*time.Duration(phase)/time.Duration(6*phases), d, client)
				})
			})
		}
	}
}

// TestShortOutagesLoseNoLease: after an outage of 0.2 T, whenever it begins, the lease is as valid as before; and again.
func TestShortOutagesLoseNoLease(t *testing.T) {
	outages(t, 8, func(t *testing.T, timeout, phase time.Duration, d *bubble.Network, client *locks.Client) {
		lease := bubble.Locked(t, client.Mutex("/outage").Lock)
		for range 5 {
			time.Sleep(timeout + phase)
			tried := d.Outage(timeout / 5)
			require.LessOrEqual(t, tried, 45)
			time.Sleep(timeout / 4)
			require.True(t, lease.Valid())
			require.NoError(t, lease.Context().Err())
		}
		bubble.GiveBack(t, lease)
	})
}

// TestReconnectingRenewsTheLeaseAtOnce: when the connection is lost with a heartbeat under way, a transaction is committed
// as soon as there is another connection, and not when the next heartbeat would have been due.
func TestReconnectingRenewsTheLeaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		lease := bubble.Locked(t, client.Mutex("/outage").Lock)
		time.Sleep(10 * time.Second)
		heartbeat, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Action: embedded.CutBefore})
		require.NoError(t, err)
		require.NoError(t, heartbeat.Wait(t.Context()))
		time.Sleep(200 * time.Millisecond)
		require.Greater(t, time.Until(lease.Deadline()), 8*time.Second, "0.9 T from the connect request")
		bubble.GiveBack(t, lease)
	})
}

// TestLongOutagesLoseTheLeaseInTime: in an outage of half a session timeout the lease ends, before the servers end the session.
func TestLongOutagesLoseTheLeaseInTime(t *testing.T) {
	outages(t, 8, func(t *testing.T, timeout, phase time.Duration, d *bubble.Network, client *locks.Client) {
		lease := bubble.Locked(t, client.Mutex("/outage").Lock)
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
		again := bubble.Locked(t, client.Mutex("/outage").Lock)
		require.Greater(t, again.Token(), lease.Token())
		bubble.GiveBack(t, again)
	})
}

// TestWaitersAreNotUrgent: a client that holds nothing reconnects at the ordinary pace.
func TestWaitersAreNotUrgent(t *testing.T) {
	outages(t, 2, func(t *testing.T, timeout, phase time.Duration, d *bubble.Network, client *locks.Client) {
		holder := bubble.Client(t, d.Server)
		lease := bubble.Locked(t, holder.Mutex("/outage").Lock)
		got := patient.Elsewhere(t.Context(), client.Mutex("/outage").Lock)
		before := bubble.Locked(t, client.Mutex("/mine").Lock)
		bubble.GiveBack(t, before)
		time.Sleep(timeout + phase)
		require.LessOrEqual(t, d.Outage(timeout/5), 15, "50 ms and longer each time")
		bubble.GiveBack(t, lease)
		a := <-got
		require.NoError(t, a.Err)
		bubble.GiveBack(t, a.Lease)
	})
}
