package leasewalk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// paced is the outcome for a session on one connection, with round trips that all take equally
// long.
type paced struct {
	lasts    bool
	leased   bool          // the lease never ran out, once there was one
	slack    time.Duration // the least that was left of the chain when it was extended
	requests float64       // in a session timeout
}

// keep runs the real chain on one connection for fifty session timeouts, with the keepalive as zkconn runs it. With a
// lease its owner sends a transaction each T/6, one at a time.
func keep(timeout, trip time.Duration, lease bool) (p paced) {
	type flight struct {
		xid   int32
		back  evidence.Instant
		owner bool
	}
	const step = time.Millisecond
	c := evidence.New(0)
	conn := c.Connecting(0, timeout)
	c.Connected(evidence.Instant(trip), conn, timeout)
	var flights []flight
	var xid int32
	busy, had := false, false
	next := evidence.Instant(trip)
	sent := 0
	p = paced{lasts: true, leased: true, slack: timeout}
	send := func(now evidence.Instant, kind evidence.Kind, owner bool) {
		xid++
		sent++
		c.Sending(now, conn, xid, kind)
		flights = append(flights, flight{xid, now.Plus(trip), owner})
	}
	end := evidence.Instant(trip).Plus(50 * timeout)
	for now := evidence.Instant(trip); now < end; now = now.Plus(step) {
		for len(flights) > 0 && flights[0].back <= now {
			before, _ := c.Ends()
			c.Replied(now, conn, flights[0].xid, true)
			if after, _ := c.Ends(); after > before {
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
		if lease && !busy && now >= next {
			send(now, evidence.Committed, true)
			busy, next = true, now.Plus(timeout/6)
		}
		if due, committed, some := c.Next(lease); some && now >= due {
			kind := evidence.Ordered
			if committed {
				kind = evidence.Committed
			}
			send(now, kind, false)
		}
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
		idle, lease := keep(timeout, timeout/time.Duration(c.part), false), keep(timeout, timeout/time.Duration(c.part), true)
		show := func(p paced) float64 { return float64(p.slack) / float64(timeout) }
		t.Logf("round trip T/%-2d  idle: lasts %-5v slack %.3f T, %4.1f requests in T   leased: lasts %-5v lease %-5v slack %.3f T, %4.1f requests in T",
			c.part, idle.lasts, show(idle), idle.requests, lease.lasts, lease.leased, show(lease), lease.requests)
		require.Equal(t, c.idle, idle.lasts, "idle, T/%d", c.part)
		require.Equal(t, c.lease, lease.lasts, "leased, T/%d", c.part)
		require.Equal(t, lease.lasts, lease.leased, "the lease lasts while the chain does, T/%d", c.part)
	}
}
