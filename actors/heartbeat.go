package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// beat is the outcome of one heartbeat.
type beat struct {
	sent time.Time
	err  error
}

// heartbeat commits a transaction that changes nothing but needs the node. Nothing less extends the lease: see package
// zkconn.
func heartbeat(conn *zkconn.Conn, path string) beat {
	sent, err := conn.Heartbeat(path)
	return beat{sent, err}
}

// acknowledged tells whether the ensemble has committed it, with whatever result.
func (b beat) acknowledged() bool { return b.err == nil || zkconn.CommittedRefusal(b.err) }

const (
	// beatsPerTimeout: a grant needs a lease that is valid now and must not cost a round trip to get one.
	beatsPerTimeout = 6
	// evidencePerTimeout is how often a session asks that lacks the evidence for a grant, or for a lease that lasts: with
	// the first heartbeats after a grant, and where round trips take more than a twenty-fourth of the session timeout. It
	// takes about a third of that to come by, see package zkconn.
	evidencePerTimeout = 16
	// shortLease is the part of the session timeout below which a lease does not last. SteadyLease is above it.
	shortLease = 0.3
)

// shortestBeat keeps heartbeats that fail at once from following each other at once.
const shortestBeat = 10 * time.Millisecond

// startBeating begins the heartbeats, unless they run; they end by themselves when nobody waits or
// holds any more.
func (s *session) startBeating() {
	if s.beating || !s.connected || s.target() == nil {
		return
	}
	s.beating = true
	s.beatNow()
}

// beatAnew sends a heartbeat at once on a new connection. One that was under way, or that is due later, goes on no longer.
func (s *session) beatAnew() {
	s.beating = false
	s.beatRun++
	s.startBeating()
}

// target is the contender whose node the next heartbeat checks: of the holders, or else of the others, the one
// that was checked the longest ago. So each has its turn, however many there are; and what a session sends
// follows from what it was told, not from the order of a map, which a simulation needs to replay it.
func (s *session) target() (next *contender) {
	for _, c := range s.contenders {
		if c.node != "" && (!c.gone || c.rest != nil) && (next == nil || c.checkedBefore(next)) {
			next = c
		}
	}
	return next
}

func (c *contender) checkedBefore(other *contender) bool {
	switch {
	case c.granted != other.granted:
		return c.granted
	case c.checked != other.checked:
		return c.checked < other.checked
	}
	return c.token < other.token
}

func (s *session) beatNow() {
	s.checkLease()
	c := s.target()
	if c == nil || !s.connected {
		s.beating = false
		return
	}
	node, path := c.node, c.path+"/"+c.node
	s.beats++
	c.checked = s.beats
	this, run := s.beats, s.beatRun
	s.run(func(conn *zkconn.Conn) func() {
		b := heartbeat(conn, path)
		return func() { s.beaten(c, node, b, run) }
	})
	s.after(s.lease.timeout/beatsPerTimeout, func() { s.unanswered(this) })
}

// unanswered tells the holders that a heartbeat has had no answer by the time the next is due: the lock is
// in doubt, though the connection is up.
func (s *session) unanswered(beat uint64) {
	if s.answered >= beat || !s.connected {
		return
	}
	s.figures.Silent()
	s.log.Warn("heartbeat unanswered", s.logged()...)
	for _, c := range s.contenders {
		if c.granted && !c.gone {
			s.tell(c.lock, machine.Event{Kind: machine.Silent})
		}
	}
}

func (s *session) beaten(c *contender, node string, b beat, run uint64) {
	if run == s.beatRun {
		s.answered = s.beats // one of a run is under way at a time
	}
	s.renewed()
	if errors.Is(b.err, zkconn.ErrNoNode) && c.node == node && !c.gone {
		s.tell(c.lock, machine.Event{Kind: machine.NodeGone})
		s.vanished(c.at(node))
	}
	s.restGone(c, b.err)
	s.after(max(time.Until(b.sent.Add(s.pace())), shortestBeat), func() {
		if run == s.beatRun {
			s.beatNow()
		}
	})
}

// pace is the time from one heartbeat to the next.
func (s *session) pace() time.Duration {
	if left := time.Until(s.lease.clock.Deadline()); left < time.Duration(shortLease*float64(s.lease.timeout)) {
		return s.lease.timeout / evidencePerTimeout
	}
	return s.lease.timeout / beatsPerTimeout
}

// renewed looks at the lease once a transaction was answered, which may have extended it.
func (s *session) renewed() {
	s.checkLease()
	s.watchLease()
}

// checkLease tells the holders when a run of the lease is over, also where the next has begun: whoever held has lost it.
// Timers alone would not do: they stand still while the machine is suspended.
func (s *session) checkLease() {
	if run, _ := s.lease.look(); run != s.leaseRun {
		s.leaseRun = run
		s.tellAll(machine.LeaseOver)
	}
}

// looksPerTimeout is how often a session looks at its lease while it is disconnected, and so sends no heartbeats.
const looksPerTimeout = 100

// watchLease looks at the clock when the lease is due to end, and tells the holders when it has. While the session is
// disconnected it looks in between as well: timers stand still while the machine is suspended, and a connect request may
// bring the end forward.
func (s *session) watchLease() {
	if !s.watchingLease {
		s.watchLeaseAgain()
	}
}

// watchLeaseAgain is watchLease that puts a timer in place of the one that runs.
func (s *session) watchLeaseAgain() {
	s.watchingLease = false
	if _, valid := s.lease.look(); !valid || len(s.contenders) == 0 {
		return
	}
	s.watchingLease = true
	s.looks++
	this, wait := s.looks, time.Until(s.lease.clock.Deadline())
	if !s.connected {
		wait = min(wait, s.lease.timeout/looksPerTimeout)
	}
	s.after(wait, func() {
		if this == s.looks {
			s.checkLease()
			s.watchLeaseAgain()
		}
	})
}
