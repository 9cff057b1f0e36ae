package embedded

import (
	"slices"
	"time"
)

// connect carries out a connection's first request: a new session, or the one that it names with its
// password. It reports false when the connection is to be closed.
func (c *conn) connect(frame []byte) bool {
	d := decoder{buf: frame}
	d.int32() // the protocol's version, which nobody has ever looked at
	seen := d.int64()
	asked := time.Duration(d.int32()) * time.Millisecond
	id := d.int64()
	password := d.bytes()
	if d.err != nil {
		return false
	}
	old := len(d.buf) == 0 // a client from before there was the read-only flag
	if !c.r.serves() || seen > c.r.tree.zxid {
		return false // it has seen more than we have: another server can help it, we cannot
	}
	c.timeout = min(max(asked, c.r.minTimeout), c.r.maxTimeout)
	c.heard = c.e.clock.Now()
	if !c.r.following() {
		c.park()
		return true
	}
	if id == 0 {
		return c.openSession(old)
	}
	return c.reopenSession(old, id, slices.Clone(password))
}

// openSession has the leader make a session, by a transaction. It lives from when the leader gets to know of it.
func (c *conn) openSession(old bool) bool {
	return c.order(&decoder{}, func(*decoder) (*txn, func([]result) bool) {
		e := c.e
		e.nextSession++
		s := &session{id: e.nextSession, created: c.timeout, at: c.r}
		e.sessions[s.id] = s
		e.sessionOrder.add(s.id)
		e.touch(s, c.timeout)
		x := &txn{op: OpCreateSession, session: s.id, zxid: e.nextZxid(), time: e.millis()}
		return x, func([]result) bool {
			if c.r.link != nil { // it has sent a packet of the session to be
				c.r.touched[s.id] = c.timeout
			}
			return c.establish(old, s.id)
		}
	})
}

// reopenSession moves a session here, when the leader knows it. The connection it had to this replica is closed, even
// when the password turns out to be wrong, as in ZooKeeper; one to another replica learns it when it next writes.
func (c *conn) reopenSession(old bool, id int64, password []byte) (open bool) {
	if before := c.r.bySession[id]; before != nil {
		before.shut()
	}
	waits, direct := (*exchange)(nil), c.direct()
	if !direct {
		waits = c.await()
	}
	c.r.toLeader(func() {
		s := c.e.sessions[id]
		valid := s != nil && !s.closing && slices.Equal(password, c.e.password(id))
		if valid {
			s.at = c.r
			c.e.touch(s, c.timeout)
		}
		c.r.fromLeader(func() {
			welcome := func() bool {
				if !valid {
					c.greeting(old, 0, 0, make([]byte, passwordSize))
					return false
				}
				return c.establish(old, id)
			}
			if direct {
				open = welcome()
			} else {
				c.answered(waits, welcome)
			}
		})
	})
	return open || !direct
}

// establish tells the client of its session, and carries out what it has sent too early.
func (c *conn) establish(old bool, id int64) bool {
	c.sessionID, c.phase = id, max(c.phase, established)
	c.r.bySession[id] = c
	c.greeting(old, c.timeout, id, c.e.password(id))
	early := c.early
	c.early = nil
	for _, frame := range early {
		if c.phase >= parked || !c.perform(frame) {
			return c.phase >= parked
		}
	}
	return true
}
