package lease

import (
	"slices"
	"time"
)

// Chain has the proofs of one session so far. Its methods take the time by this process's clock,
// which must not go back.
//
// Invariant: sure ≤ here. Until the chain is broken, the leader does not hold the session for due
// before sure, whichever leader that is, and not before here if the server of the newest connection
// follows the leader.
type Chain struct {
	tick    time.Duration // of the servers, 0 for not known
	timeout time.Duration // the shortest that was granted to the session; 0 before there is one
	phase   phase
	sure    Instant // the session lives until then, by the newest proof with a committed transaction
	here    Instant // by any proof of the newest connection; sure without one
	proved  bool    // sure was proved with a transaction, not only by the session's beginning

	connections uint64
	opening     Instant
	trips       trips
	lastSent    Instant
	flights     []flight      // its requests without an answer, in the order of sending, and so of the answers
	lastTrip    Instant       // when its newest request by way of the leader went out
	lastCommit  Instant       // when its newest transaction went out
	slowest     time.Duration // a round trip took lately
}

type phase uint8

const (
	idle phase = iota
	asking
	answered
	unclear // there is no connection, and the connect request of the last was not answered
	broken  // no connection proves anything any more
)

type flight struct {
	xid       int32
	committed bool // a transaction: its answer shows that it was committed
	touched   Instant
	sent      Instant
}

// maxFlights bounds the requests that are followed; others are no evidence. Servers accept some
// thousand of one connection.
const maxFlights = 1 << 14

// Kind says which evidence the answer to a request is.
type Kind uint8

const (
	// Local requests may be answered by a server alone.
	Local Kind = iota
	// Ordered requests are answered once the leader has handled them: syncs.
	Ordered
	// Committed requests are transactions.
	Committed
)

// New makes the chain of a session that is yet to be granted. tick is the servers' tick, 0 for not
// known.
func New(tick time.Duration) *Chain { return &Chain{tick: tick} }

// Connecting begins a connection: its connect request goes out next. shortest is the shortest
// timeout that any server of the list grants, 0 for not known: the leader may go by it even if the
// answer never comes.
func (c *Chain) Connecting(now Instant, shortest time.Duration) (connection uint64) {
	c.Lost(now)
	c.connections++
	c.opening, c.lastSent, c.lastTrip, c.lastCommit = now, now, now, now
	if c.phase == broken {
		return c.connections
	}
	if c.timeout > 0 {
		shortest = shorter(shortest, c.timeout)
		if c.phase == unclear {
			c.timeout = shortest // the earlier request may reach the leader at any time
		}
		c.shorten(now + Good(shortest))
	}
	c.phase = asking
	return c.connections
}

// Granted takes the timeout that a server granted to an existing session on the newest connection,
// and gives the one that counts: the shortest so far. A new leader starts a session with the
// timeout that it was created with, and then the timeout of the last touch counts.
func (c *Chain) Granted(now Instant, connection uint64, granted time.Duration) (timeout time.Duration) {
	c.Broken(now)
	c.timeout = shorter(c.timeout, granted)
	if connection == c.connections && c.phase == asking {
		c.shorten(c.opening + Good(c.timeout))
	}
	return c.timeout
}

// Connected says that the newest connection has the session, with this timeout. It gives the one
// that counts, as Granted does. The answer to a reconnect must come while the chain lasts, because
// its touch lies before it.
func (c *Chain) Connected(now Instant, connection uint64, granted time.Duration) (timeout time.Duration) {
	if c.timeout == 0 {
		until := c.opening + Good(granted)
		c.sure, c.here = until, until
	}
	c.Granted(now, connection, granted)
	if connection != c.connections || c.phase != asking || c.Broken(now) {
		return c.timeout
	}
	c.phase = answered
	c.trips = newTrips(c.timeout, c.tick, trip{touched: c.opening, sent: c.opening, answered: now})
	c.slowest = now - c.opening // the first requests would be too few if they waited for it
	c.here = max(c.here, c.opening+Good(c.timeout))
	return c.timeout
}

// Lost ends the newest connection. Its proofs without a committed transaction count no more.
func (c *Chain) Lost(now Instant) {
	asked := c.phase == asking || c.phase == unclear
	if c.phase == broken || c.Broken(now) {
		return
	}
	c.flights, c.here, c.slowest = nil, c.sure, 0
	if c.phase = idle; asked {
		c.phase = unclear
	}
}

// Sending records a packet that goes out next. It reports whether a ping should go out before it: a
// request by way of the leader is worth as much as the packet before it.
func (c *Chain) Sending(now Instant, connection uint64, xid int32, kind Kind) (pingFirst bool) {
	if connection != c.connections {
		return false
	}
	before := c.lastSent
	c.lastSent = now
	if c.phase != answered || kind == Local {
		return false
	}
	c.lastTrip = now // also where it is no evidence: the next is due a pace later
	if kind == Committed {
		c.lastCommit = now
	}
	if len(c.flights) == maxFlights {
		return false
	}
	if pingFirst = now > before+2*c.trips.grain; pingFirst {
		before = now
	}
	c.flights = append(c.flights, flight{xid: xid, committed: kind == Committed, touched: before, sent: now})
	return pingFirst
}

// Replied takes the answer to a request. decided: the leader has decided every part of it on our
// living session.
func (c *Chain) Replied(now Instant, connection uint64, xid int32, decided bool) {
	if connection != c.connections || c.phase != answered {
		return
	}
	i := slices.IndexFunc(c.flights, func(f flight) bool { return f.xid == xid })
	if i < 0 {
		return
	}
	f := c.flights[i]
	c.flights = slices.Delete(c.flights, 0, i+1)
	if c.Broken(now) || !decided {
		return
	}
	c.slowest = max(now-f.sent, c.slowest-c.slowest/8)
	if touched, known := c.trips.since(f.sent); known {
		c.here = max(c.here, touched+Good(c.timeout))
		if f.committed {
			c.sure, c.proved = c.here, true
		}
	}
	c.trips.add(trip{touched: f.touched, sent: f.sent, answered: now})
}

// shorten brings the end forward: the servers may end the session sooner than was known.
func (c *Chain) shorten(until Instant) {
	c.sure, c.here = min(c.sure, until), min(c.here, until)
}

// Broken reports whether the chain is broken: no lease may rest on this session any more. Once true it stays true.
func (c *Chain) Broken(now Instant) bool {
	if c.timeout > 0 && now >= c.here {
		c.Break()
	}
	return c.phase == broken
}

// Lasts reports whether requests from now on can prove in time that the session lives: one by way
// of the leader, and a transaction after it, do at once after an earlier round trip, and in a third
// of a session timeout without one.
func (c *Chain) Lasts(now Instant) bool {
	if c.Broken(now) || c.phase != answered {
		return c.phase != broken
	}
	takes := c.trips.half + 2*c.trips.settle + 4*c.slowest
	end := c.here
	if y := c.trips.last(func(y trip) bool { return y.answered+c.trips.half <= now }); y >= 0 {
		end = max(end, c.trips.all[y].touched+Good(c.timeout))
	}
	return end > now+takes
}

// Break ends the chain for good.
func (c *Chain) Break() { c.phase, c.flights = broken, nil }

// Ends gives when the chain breaks without another proof, once there is a session.
func (c *Chain) Ends() Instant { return c.here }

// Lease gives the time until which a lease may last, even if this connection is lost and all
// servers fail. It is false before a transaction has been committed, and once the chain is broken.
func (c *Chain) Lease() (until Instant, some bool) { return c.sure, c.proved && c.phase != broken }

// Timeout gives the shortest timeout of the session so far, 0 before there is one.
func (c *Chain) Timeout() time.Duration { return c.timeout }

func shorter(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}
