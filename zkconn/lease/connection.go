package lease

import "time"

// A connection that a server has granted may be mute: a session that somebody else ends while its
// client reconnects leaves one behind, because the server forgets whom it belongs to. Its client
// would go on with a lease until the library gives the connection up, two thirds of the session
// timeout after the last answer (4.9 s of 10 s were seen beside the next holder). So it dials anew
// sooner, and hears that the session is over.
const (
	// muteFirst is the part of a session timeout after which a renewed connection is first looked
	// at. It is longer than the round trips with which a session can be kept (a seventh).
	muteFirst = 4
	// mutePatience is the part for which a request must have waited.
	mutePatience = 6
	// muteAgain is the part after which it is looked at again, until it is as old as a session
	// timeout.
	muteAgain = 24
	// shortestKeepalive: a timer that fires early would otherwise fire again and again.
	shortestKeepalive = time.Millisecond
)

// Connection is one connection of a session. It records which requests go by way of the leader, and
// has some of our own sent (keepalive) where these are too few for evidence that the session lives.
type Connection struct {
	// Send sends a sync, which commits nothing, or a transaction that changes nothing. GiveUp ends
	// the connection, which a server granted so long ago and does not answer on. Both are set
	// before Begin, and called on goroutines of timers, without a lock.
	Send   func(committed bool)
	GiveUp func(after time.Duration)

	keeper      *Keeper
	number      uint64
	since       Instant
	alive, mute *time.Timer // nil before Begin; mute is also nil on a session's first connection
	ended       bool
}

// Open makes the record of a connection.
func (k *Keeper) Open() *Connection { return &Connection{keeper: k} }

// Connecting: the connect request goes out next.
func (c *Connection) Connecting() {
	c.keeper.take(func(now Instant) { c.number = c.keeper.chain.Connecting(now, c.keeper.granted.note(0)) })
}

// Granted takes the timeout that a server granted to an existing session, and gives the one that
// counts: see Chain.Granted.
func (c *Connection) Granted(timeout time.Duration) (counts time.Duration) {
	c.keeper.granted.note(timeout)
	c.keeper.take(func(now Instant) { counts = c.keeper.chain.Granted(now, c.number, timeout) })
	return counts
}

// Connected: the connection has the session, with this timeout. It gives the one that counts.
func (c *Connection) Connected(timeout time.Duration) (counts time.Duration) {
	k := c.keeper
	k.granted.note(timeout)
	k.take(func(now Instant) {
		counts = k.chain.Connected(now, c.number, timeout)
		c.since, k.up, k.since, k.silent = now, true, now, false
	})
	return counts
}

// Begin: requests may be sent. A renewed connection is looked at while it is younger than a session
// timeout, where a lease is wanted.
func (c *Connection) Begin(renewed bool) {
	k := c.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.ended {
		return
	}
	k.newest = c
	in, _, _ := c.next(k.Clock.now())
	c.alive = time.AfterFunc(in, c.keepAlive)
	if renewed {
		c.mute = time.AfterFunc(k.chain.Timeout()/muteFirst, c.look)
	}
}

// End stops what the connection does by itself.
func (c *Connection) End() {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	c.ended = true
	for _, t := range []*time.Timer{c.alive, c.mute} {
		if t != nil {
			t.Stop()
		}
	}
}

// Sending records a packet that goes out next; owners: it is none of Send's. It reports whether a
// ping should go out before it.
func (c *Connection) Sending(xid int32, kind Kind, owners bool) (pingFirst bool) {
	k := c.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.Clock.now()
	k.asked(now)
	if kind == Committed && owners {
		k.told = now
	}
	return k.chain.Sending(now, c.number, xid, kind)
}

// Replied takes an answer, with its verdict as for Chain.Replied.
func (c *Connection) Replied(xid int32, decided bool) {
	k := c.keeper
	k.take(func(now Instant) {
		if k.silent = false; now-c.since >= k.chain.Timeout() {
			k.redialed = false
		}
		k.chain.Replied(now, c.number, xid, decided)
	})
}

// next gives for how long to wait, whether a round trip is due now if nothing else goes out, and
// whether it is to be a transaction. k.mu is held.
func (c *Connection) next(now Instant) (wait time.Duration, committed, due bool) {
	k := c.keeper
	kept := k.kept(now)
	at, committed, some := k.chain.Next(kept)
	if !some || kept == Idle && !k.idleSyncs {
		return max(k.chain.Timeout(), shortestKeepalive), false, false // Want may change that
	}
	return max(at-now, shortestKeepalive), committed, at <= now
}

func (c *Connection) keepAlive() {
	k := c.keeper
	k.mu.Lock()
	_, committed, due := c.next(k.Clock.now())
	k.mu.Unlock()
	if due {
		c.Send(committed)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c.keepOn(k.Clock.now())
}

// keepOn sets the timer of the keepalive; nil is no connection. k.mu is held.
func (c *Connection) keepOn(now Instant) {
	if c != nil && !c.ended {
		in, _, _ := c.next(now)
		c.alive.Reset(in)
	}
}

// look gives the connection up where it is mute: at most once, because slow servers would be dialed
// over and over. A session that is being closed is waited for.
func (c *Connection) look() {
	k := c.keeper
	k.mu.Lock()
	now, timeout := k.Clock.now(), k.chain.Timeout()
	age := now - c.since
	mute := !c.ended && k.stage != abandoned && k.wanted && !k.redialed && k.silent && now-k.unheard >= timeout/mutePatience
	if k.redialed = k.redialed || mute; !mute && !c.ended && age < timeout {
		c.mute.Reset(timeout / muteAgain)
	}
	k.mu.Unlock()
	if mute {
		c.GiveUp(age)
	}
}
