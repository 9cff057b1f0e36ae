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
	c.timeout = min(max(asked, c.e.minTimeout), c.e.maxTimeout)
	c.heard = c.e.clock.Now()
	if !c.r.following() {
		c.parked = true
		return true
	}
	if id == 0 {
		c.openSession()
	} else if !c.reopenSession(id, password) {
		c.greeting(old, 0, 0, make([]byte, passwordSize))
		return false
	}
	c.established = true
	c.r.bySession[c.sessionID] = c
	c.greeting(old, c.timeout, c.sessionID, c.e.password(c.sessionID))
	return true
}

func (c *conn) openSession() {
	e := c.e
	e.nextSession++
	s := &session{id: e.nextSession, timeout: c.timeout, at: c.r}
	e.sessions[s.id] = s
	e.sessionOrder.add(s.id)
	e.touch(s)
	e.commitFrom(c.r, &txn{op: OpCreateSession, session: s.id, zxid: e.nextZxid(), time: e.millis()})
	c.sessionID = s.id
}

// reopenSession moves a session here. The connection it had to this replica is closed, even when the
// password turns out to be wrong, as in ZooKeeper; one to another replica learns it when it next writes.
func (c *conn) reopenSession(id int64, password []byte) bool {
	if before := c.r.bySession[id]; before != nil {
		before.shut()
	}
	s := c.e.sessions[id]
	if s == nil || !slices.Equal(password, c.e.password(id)) {
		return false
	}
	s.timeout, s.at = c.timeout, c.r
	c.e.touch(s)
	c.sessionID = id
	return true
}

func (c *conn) greeting(old bool, timeout time.Duration, id int64, password []byte) {
	c.out.add(func(e *encoder) {
		e.int32(0)
		e.int32(int32(timeout.Milliseconds()))
		e.int64(id)
		e.bytes(password)
		if !old {
			e.bool(false) // not a read-only server
		}
	})
	c.countSent()
}
