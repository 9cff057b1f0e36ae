package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// passwordSize is what a password is long, in bytes.
const passwordSize = 16

// password is a session's: it follows from the id, so that it is known for sessions that are no more.
func (e *ensemble) password(id int64) []byte {
	seed := binary.BigEndian.AppendUint64(e.secret[:], uint64(id))
	sum := sha256.Sum256(seed)
	return sum[:passwordSize]
}

// touch lets a session live for another timeout, that of its connection. Its end may come nearer by that.
func (e *ensemble) touch(s *session, timeout time.Duration) {
	s.expires = e.clock.Now().Add(timeout)
}

// expireSessions ends those whose time is over. It is called at every tick, as ZooKeeper looks at its
// sessions once in a tick.
func (e *ensemble) expireSessions(now time.Time) {
	if e.leader == nil {
		return
	}
	for _, id := range append([]int64(nil), e.sessionOrder.items...) {
		if s := e.sessions[id]; s != nil && !s.expires.After(now) {
			e.expire(s)
		}
	}
}

// expire ends a session as soon as there is a majority. Nothing keeps it alive any more.
func (e *ensemble) expire(s *session) {
	if s.closing {
		return
	}
	s.closing = true
	e.enter(func() {
		if e.sessions[s.id] == s { // it may have been closed by its client meanwhile
			e.commit(e.closeSession(s))
		}
	})
}

// closeSession makes the transaction that ends a session, and takes its ephemeral nodes with it.
func (e *ensemble) closeSession(s *session) *txn {
	x := &txn{op: OpCloseSession, session: s.id, zxid: e.nextZxid(), time: e.millis()}
	if owned := e.leader.tree.ephemerals[s.id]; owned != nil {
		x.paths = append(x.paths, owned.items...)
	}
	delete(e.sessions, s.id)
	e.sessionOrder.remove(s.id)
	return x
}
