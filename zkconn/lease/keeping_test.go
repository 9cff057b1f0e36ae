package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// paced is the outcome for a session on one connection, with round trips that all take equally
// long.
type paced struct {
	lasts    bool
	leased   bool          // the lease never ran out, once there was one
	slack    time.Duration // the least that was left of the chain when it was extended
	requests float64       // in a session timeout
	apart    time.Duration // the longest time between two transactions
}

// keep runs the real chain on one connection for fifty session timeouts, with the keepalive as
// zkconn runs it. The owner of a leased session sends a transaction each T/6, one at a time. look
// is called in each step.
func keep(timeout, trip time.Duration, kept lease.Keeping, look func(now lease.Instant, c *lease.Chain)) (p paced) {
	type flight struct {
		xid   int32
		back  lease.Instant
		owner bool
	}
	const step = time.Millisecond
	c := lease.New(0)
	conn := c.Connecting(0, timeout)
	c.Connected(trip, conn, timeout)
	var flights []flight
	var xid int32
	busy, had := false, false
	next := trip
	sent := 0
	newest := next
	p = paced{lasts: true, leased: true, slack: timeout}
	send := func(now lease.Instant, kind lease.Kind, owner bool) {
		xid++
		sent++
		c.Sending(now, conn, xid, kind)
		if kind == lease.Committed {
			p.apart, newest = max(p.apart, time.Duration(now-newest)), now
		}
		flights = append(flights, flight{xid, now + trip, owner})
	}
	end := trip + 50*timeout
	for now := trip; now < end; now += step {
		for len(flights) > 0 && flights[0].back <= now {
			before := c.Ends()
			c.Replied(now, conn, flights[0].xid, true)
			if after := c.Ends(); after > before {
				p.slack = min(p.slack, time.Duration(before-now))
			}
			busy = busy && !flights[0].owner
			flights = flights[1:]
		}
		if c.Broken(now) {
			p.lasts, p.leased = false, false
			break
		}
		until, leased := c.Lease()
		had = had || leased
		p.leased = p.leased && (!had || now < until)
		if kept == lease.Leased && !busy && now >= next {
			send(now, lease.Committed, true)
			busy, next = true, now+timeout/6
		}
		if due, committed, some := c.Next(kept); some && now >= due {
			kind := lease.Ordered
			if committed {
				kind = lease.Committed
			}
			send(now, kind, false)
		}
		look(now, c)
	}
	p.requests = float64(sent) / 50
	return p
}

// TestPace: the keepalive keeps the chain up to round trips of T/8, with a lease and without.
func TestPace(t *testing.T) {
	const timeout = 10 * time.Second
	for _, c := range []struct {
		part        int
		idle, lease bool // the chain lasts
	}{
		{48, true, true}, {24, true, true}, {16, true, true}, {12, true, true}, {8, true, true},
		{7, false, false}, {6, false, false}, {5, false, false}, {3, false, false},
	} {
		trip := timeout / time.Duration(c.part)
		idle, lease := keep(timeout, trip, lease.Idle, unseen), keep(timeout, trip, lease.Leased, unseen)
		show := func(p paced) float64 { return float64(p.slack) / float64(timeout) }
		t.Logf("round trip T/%-2d  idle: lasts %-5v slack %.3f T, %4.1f requests in T   leased: lasts %-5v lease %-5v slack %.3f T, %4.1f requests in T",
			c.part, idle.lasts, show(idle), idle.requests, lease.lasts, lease.leased, show(lease), lease.requests)
		require.Equal(t, c.idle, idle.lasts, "idle, T/%d", c.part)
		require.Equal(t, c.lease, lease.lasts, "leased, T/%d", c.part)
		require.Equal(t, lease.lasts, lease.leased, "the lease lasts while the chain does, T/%d", c.part)
	}
}

// unseen looks at nothing.
func unseen(lease.Instant, *lease.Chain) {}

// TestPaceOfNodes: a session that owns nodes, and for which nobody sends transactions, commits one
// each T/6. So it survives an outage of 0.3 T at any moment, as a holder does. An idle session
// survives none.
func TestPaceOfNodes(t *testing.T) {
	const timeout, trip = 10 * time.Second, 5 * time.Millisecond
	survives := func(kept lease.Keeping) time.Duration {
		least := timeout
		p := keep(timeout, trip, kept, func(now lease.Instant, c *lease.Chain) {
			if now >= 2*timeout {
				least = min(least, outlasts(now, c))
			}
		})
		t.Logf("%.1f requests in T, transactions at most %.3f T apart, survives %.3f T", p.requests, p.apart.Seconds()/timeout.Seconds(),
			least.Seconds()/timeout.Seconds())
		require.True(t, p.lasts)
		if kept != lease.Idle {
			require.LessOrEqual(t, p.apart, timeout/6+time.Millisecond)
		}
		return least
	}
	require.GreaterOrEqual(t, survives(lease.Owning), timeout*3/10)
	require.GreaterOrEqual(t, survives(lease.Leased), timeout*3/10)
	require.LessOrEqual(t, survives(lease.Idle), time.Duration(0))
}

// outlasts gives how long after the loss of its connection now a session may still be renewed.
func outlasts(now lease.Instant, c *lease.Chain) time.Duration {
	c = c.Clone()
	c.Lost(now)
	ends := c.Ends()
	return time.Duration(ends - now)
}
