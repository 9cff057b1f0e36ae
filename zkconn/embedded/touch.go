package embedded

import "time"

// What keeps a session alive is that the leader touches it. It does so by each packet of a client
// of its own; when a session is opened, or moves to another connection; and when a follower answers
// its ping with the sessions that it has heard of since the last. A request that a follower
// forwards touches nothing.

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

// answerPing tells the leader of which sessions the follower has heard, and with which timeouts.
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
