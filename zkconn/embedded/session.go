package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// passwordSize is the length of a password, in bytes.
const passwordSize = 16

// password gives a session's password. It follows from the id, so that it is known for ended
// sessions, too.
func (e *ensemble) password(id int64) []byte {
	seed := binary.BigEndian.AppendUint64(e.secret[:], uint64(id))
	sum := sha256.Sum256(seed)
	return sum[:passwordSize]
}

// touch lets a session live for the timeout of its connection from now. That may be earlier than
// its end before.
func (e *ensemble) touch(s *session, timeout time.Duration) {
	s.expires = e.clock.Now().Add(timeout)
}

// expireSessions ends the sessions whose time is over. It is called at every tick, as ZooKeeper
// looks at its sessions once in a tick.
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
			e.commit(e.closeSession(s.id, nil))
		}
	})
}

// endElsewhere ends a session by a request that its own replica takes for its client's, so the client's connection
// stays.
func (e *ensemble) endElsewhere(s *session) {
	e.enter(func() {
		if e.sessions[s.id] != s {
			return
		}
		asker := s.at
		for _, r := range e.replicas {
			if asker == nil && r.bySession[s.id] != nil {
				asker = r // this leader was not asked about the session yet
			}
		}
		e.commit(e.closeSession(s.id, asker))
	})
}

// closeSession makes the transaction that ends a session, and takes its ephemeral nodes with it,
// also for a session that is over already.
func (e *ensemble) closeSession(id int64, asker *Replica) *txn {
	x := &txn{op: OpCloseSession, session: id, asker: noReplica, zxid: e.nextZxid(), time: e.millis()}
	if asker != nil {
		x.asker = asker.number
	}
	if owned := e.leader.tree.ephemerals[id]; owned != nil {
		x.paths = append(x.paths, owned.items...)
	}
	delete(e.sessions, id)
	e.sessionOrder.remove(id)
	return x
}

// check reports whether the leader takes a write of a session that comes from a replica's client
// (SessionTrackerImpl.checkSession, LeaderSessionTracker.checkSession). It notes the replica of a
// session that this leader had not been asked about yet.
func (e *ensemble) check(id int64, from *Replica) code {
	s := e.sessions[id]
	if s == nil || s.closing {
		return codeSessionExpired
	}
	if s.at == nil {
		s.at = from
	}
	if s.at != from {
		return codeSessionMoved
	}
	return codeOK
}

// The leader keeps a session alive by touching it. It does so with each packet of a client of its
// own; when a session is opened, or moves to another connection; and when a follower answers its
// ping with the sessions that it has heard of since the last. A request that a follower forwards
// touches nothing.

// hear notes that a client has sent something. It reports false when the request is dropped without an answer, as a
// leader does, and a server alone, when the session is over (ZooKeeperServer.touch and submitRequestNow). A follower
// cannot tell.
func (r *Replica) hear(c *conn) bool {
	switch {
	case !r.following():
	case r.link == nil:
		s := r.e.sessions[c.sessionID]
		if s == nil || s.closing {
			return false
		}
		r.e.touch(s, c.timeout)
	case r.losing && r.pinged():
		r.losing = false
		r.link.down.flow()
	default:
		r.touched[c.sessionID] = c.timeout
	}
	return true
}

// pinged means that the next message of the leader is a ping.
func (r *Replica) pinged() bool {
	queue := r.link.down.queue
	return len(queue) > 0 && queue[0].ping && r.link.down.flows()
}

// answerPing tells the leader the sessions that the follower has heard of, with their timeouts.
func (r *Replica) answerPing() {
	touched := r.touched
	r.touched = map[int64]time.Duration{}
	r.toLeader(func() {
		for id, timeout := range touched {
			if s := r.e.sessions[id]; s != nil {
				r.e.touch(s, timeout)
			}
		}
	})
}
