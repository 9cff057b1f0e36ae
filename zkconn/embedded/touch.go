package embedded

import (
	"slices"
	"time"
)

// What keeps a session alive is that the leader touches it. It does so by each packet of a client
// of its own; when a session is opened, or moves to another connection; and when a follower answers
// its ping with the sessions that it has heard of since the last. A request that a follower
// forwards touches nothing.

// hear notes that a client has sent something.
func (r *Replica) hear(c *conn) {
	switch {
	case !r.following():
	case r.link == nil:
		if s := r.e.sessions[c.sessionID]; s != nil {
			r.e.touch(s, c.timeout)
		}
	case r.losing && r.pinged():
		r.losing = false
		r.link.down.flow()
	default:
		r.touched[c.sessionID] = c.timeout
	}
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

// pulse is what the leader and its followers do each half tick: pings, and giving up those that are
// not heard of.
func (e *ensemble) pulse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.stopPulse = e.clock.AfterFunc(e.tickTime/2, e.pulse)
	if e.leader == nil {
		return
	}
	if !e.leader.paused {
		for _, r := range e.replicas {
			if r.link != nil {
				r.link.down.add(message{deliver: r.answerPing, ping: true})
			}
		}
	}
	e.part()
	e.reunite()
}

// part has followers and leader part that have not heard of each other for the sync limit.
func (e *ensemble) part() {
	since := e.clock.Now().Add(-time.Duration(e.syncLimit) * e.tickTime)
	parted := false
	for _, r := range e.replicas {
		if r.link != nil && r.link.silent(since) {
			r.looking, parted = true, true
			r.unlink()
			r.dropClients()
		}
	}
	if parted {
		e.elect()
	}
}

// reunite has replicas join the leader again that can reach it.
func (e *ensemble) reunite() {
	for _, r := range e.replicas {
		if r.looking && r.running && !r.cut && e.leader != nil && e.reach(e.leader, r) {
			r.join()
		}
	}
}

// reach means that two replicas can talk to each other.
func (e *ensemble) reach(a, b *Replica) bool {
	there, back := e.lines[[2]*Replica{a, b}], e.lines[[2]*Replica{b, a}]
	return a == b || !a.paused && !b.paused && !there.stalled && !back.stalled
}

// quorate means that what the leader proposes is acknowledged by a majority.
func (e *ensemble) quorate() bool {
	have := 1
	for _, r := range e.replicas {
		if r.link != nil && r.link.down.flows() && r.link.up.flows() {
			have++
		}
	}
	return 2*have > len(e.replicas)
}

// enter has the leader carry out a request for a transaction, behind those that wait for a
// majority.
func (e *ensemble) enter(request func()) {
	e.intake = append(e.intake, request)
	e.drain()
}

func (e *ensemble) drain() {
	for len(e.intake) > 0 && e.leader != nil && e.quorate() {
		next := e.intake[0]
		e.intake = e.intake[1:]
		next()
	}
}

// flow lets everything go on that a stall or a pause has kept.
func (e *ensemble) flow() {
	for _, r := range slices.Clone(e.replicas) {
		if l := r.link; l != nil {
			l.down.flow()
			l.up.flow()
		}
	}
	e.drain()
}
