package embedded

import (
	"slices"
	"time"
)

func (e *ensemble) nextZxid() int64 {
	e.zxid++
	return e.zxid
}

func (e *ensemble) millis() int64 { return e.clock.Now().UnixMilli() }

// commit gives a transaction to every replica that follows the leader. Replicas that lag keep it
// for later.
func (e *ensemble) commit(x *txn) { e.commitFrom(nil, x, nil) }

// commitFrom is commit for a request that came to a replica. That replica has applied the
// transaction when it answers, however far it lags.
func (e *ensemble) commitFrom(via *Replica, x *txn, answer func([]result)) {
	for _, r := range e.replicas {
		if !r.following() {
			continue
		}
		deliver := func() {
			r.behind = append(r.behind, x)
			if !r.lagging || r == via {
				r.catchUp()
			}
			if results := r.results; r == via {
				r.results = nil
				answer(results)
			}
		}
		r.fromLeader(deliver)
	}
}

// quorate means that a majority acknowledges the leader's proposals.
func (e *ensemble) quorate() bool {
	have := 1
	for _, r := range e.replicas {
		if r.link != nil && r.link.down.flows() && r.link.up.flows() {
			have++
		}
	}
	return 2*have > len(e.replicas)
}

// enter has the leader carry out a request for a transaction, after the ones that wait for a
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

func newLink(leader, follower *Replica) *link {
	now := leader.e.clock.Now()
	return &link{
		down: &stream{from: leader, to: follower, heard: now},
		up:   &stream{from: follower, to: leader, heard: now},
	}
}

// clear means that everything arrives at once.
func (l *link) clear() bool { return l.down.clear() && l.up.clear() }

// silent reports whether one side has heard nothing of the other since a time. That side gives the
// connection up.
func (l *link) silent(since time.Time) bool {
	return l.down.heard.Before(since) || l.up.heard.Before(since)
}

// end drops the messages under way.
func (l *link) end() {
	for _, s := range []*stream{l.down, l.up} {
		s.ended, s.queue = true, nil
	}
}

func (s *stream) line() line { return s.to.e.lines[[2]*Replica{s.from, s.to}] }

func (s *stream) clear() bool {
	return len(s.queue) == 0 && !s.busy && !s.to.paused() && s.line() == line{}
}

// flows means that messages arrive, perhaps late.
func (s *stream) flows() bool { return !s.to.paused() && !s.line().stalled }

func (s *stream) send(deliver func()) { s.add(message{deliver: deliver}) }

func (s *stream) add(m message) {
	if delay := s.line().delay; delay > 0 {
		m.due = s.to.e.clock.Now().Add(delay)
	}
	s.queue = append(s.queue, m)
	s.flow()
}

// flow delivers the messages that can arrive now. A message that is sent while another is delivered
// waits for its turn.
func (s *stream) flow() {
	if s.busy {
		return
	}
	s.busy = true
	defer func() { s.busy = false }()
	for len(s.queue) > 0 && s.flows() {
		next := s.queue[0]
		now := s.to.e.clock.Now()
		if wait := next.due.Sub(now); wait > 0 {
			s.wake(wait)
			return
		}
		if next.ping && s.to.losing {
			return // until a client's packet comes: see LoseTouch
		}
		s.queue = s.queue[1:]
		s.heard = now
		next.deliver()
	}
}

func (s *stream) wake(wait time.Duration) {
	if s.waking {
		return
	}
	s.waking = true
	e := s.to.e
	e.clock.AfterFunc(wait, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		s.waking = false
		if !s.ended && !e.closed {
			s.flow()
		}
	})
}

// toLeader has the leader do something when it has arrived there.
func (r *Replica) toLeader(deliver func()) {
	if r.link == nil {
		deliver()
		return
	}
	r.link.up.send(deliver)
}

// fromLeader has a replica that follows do something when it has arrived there.
func (r *Replica) fromLeader(deliver func()) {
	if r.link == nil {
		deliver()
		return
	}
	r.link.down.send(deliver)
}

// await puts a request behind the ones that wait.
func (c *conn) await() *exchange {
	x := &exchange{mute: c.mute}
	c.waiting = append(c.waiting, x)
	return x
}

// answered takes the answer to a request, and sends all those whose turn it is.
func (c *conn) answered(x *exchange, answer func() bool) {
	x.known, x.answer = true, answer
	busy, mute := c.busy, c.mute
	defer func() { c.busy, c.mute = busy, mute }()
	c.busy = true
	for len(c.waiting) > 0 && c.waiting[0].known && c.phase < parked {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mute = next.mute
		if !next.answer() {
			c.park() // its further requests are ignored
			c.out.finish()
		}
	}
	if !busy {
		c.out.poke()
	}
}

// direct means that a request to the leader is answered at once.
func (c *conn) direct() bool {
	r := c.r
	return len(c.waiting) == 0 && len(r.e.intake) == 0 && (r.link == nil || r.link.clear()) && r.e.quorate()
}

// propose has the leader carry out a request. decide is called there; it gives the transaction, if
// the request makes one, and the answer. propose reports false when the connection is to be closed.
func (c *conn) propose(d *decoder, decide func(d *decoder) (*txn, func([]result) bool)) (open bool) {
	if c.direct() {
		x, answer := decide(d)
		if x == nil {
			return answer(nil)
		}
		c.e.commitFrom(c.r, x, func(results []result) { open = answer(results) })
		return open
	}
	body, queued := slices.Clone(d.buf), c.await()
	c.r.toLeader(func() {
		c.e.enter(func() {
			x, answer := decide(&decoder{buf: body})
			if x == nil {
				c.r.fromLeader(func() { c.answered(queued, func() bool { return answer(nil) }) })
				return
			}
			c.e.commitFrom(c.r, x, func(results []result) {
				c.answered(queued, func() bool { return answer(results) })
			})
		})
	})
	return true
}
