package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Heartbeats. While anything is held or waited for, a transaction that changes nothing but needs a node is committed every so
// often: nothing less extends the lease (see package zkconn), and it tells of a node that is gone.

const (
	// beatsPerTimeout: a grant needs a lease that is valid now and must not cost a round trip to get one.
	beatsPerTimeout = 6
	// evidencePerTimeout is how often a session asks that lacks the evidence for a grant, or for a lease that lasts: with the
	// first heartbeats after a grant, and where round trips take more than a twenty-fourth of the session timeout. It takes
	// about a third of that to come by, see package zkconn.
	evidencePerTimeout = 16
	// shortLease, in percent of the session timeout: a lease below that does not last. The steady one is above it.
	shortLease = 30
	// looksPerTimeout is how often a session looks at its lease while it is disconnected, and so sends no heartbeats.
	looksPerTimeout = 100
	// shortestBeat keeps heartbeats that fail at once from following each other at once.
	shortestBeat = 10 * time.Millisecond
)

// beats is how the heartbeats go on.
type beats struct {
	// newest is the number of the newest: one is under way, or due, at a time. It is zero while there are none.
	newest uint64
	// timer is that of the next heartbeat, or of the one that is late.
	timer uint64
	// sent counts them, for whose turn it is.
	sent uint64
}

// beat begins the heartbeats, unless they run. They end by themselves when there is no node any more.
func (c *Coordinator) beat() {
	if c.epoch.beats.newest == 0 {
		c.beatNow()
	}
}

// beatAnew sends a heartbeat at once on a new connection. One that was under way, or due, goes on no longer.
func (c *Coordinator) beatAnew() {
	c.stop(c.epoch.beats.timer)
	c.beatNow()
}

func (c *Coordinator) beatNow() {
	b := &c.epoch.beats
	c.lookAtLease()
	b.newest, b.timer = 0, 0
	p, n := c.target()
	if n == nil || c.epoch.connection != connected {
		return
	}
	b.sent++
	n.checked = b.sent
	b.newest = c.ask(&Check{Path: p.at(n.name), Beat: true}, heartbeat{p.path, n.name})
	b.timer = c.after(c.epoch.timeout/beatsPerTimeout, beatLate{b.newest})
}

// target is the node that the next heartbeat checks: of those with which a request holds, or else of the others, the one that
// was checked the longest ago. So each has its turn, however many there are.
func (c *Coordinator) target() (at *lockPath, next *node) {
	held := false
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				holds := c.holdsWith(n)
				if next == nil || holds && !held || holds == held && n.before(next) {
					at, next, held = p, n, holds
				}
			}
		}
	}
	return at, next
}

// holdsWith tells whether a request holds with a node.
func (c *Coordinator) holdsWith(n *node) bool {
	for _, id := range n.users {
		if r := c.requests[id]; r != nil && r.held {
			return true
		}
	}
	return false
}

// before tells whether it is a node's turn to be checked before another's.
func (n *node) before(other *node) bool {
	if n.checked != other.checked {
		return n.checked < other.checked
	}
	return n.token < other.token || n.token == other.token && n.name < other.name
}

// heartbeat is what a Check is for.
type heartbeat struct{ path, node string }

func (p heartbeat) answered(c *Coordinator, id uint64, answer Answer) {
	c.lookAtLease()
	if answer.(*Done).Failure.is(NoNode) {
		if q, n := c.epoch.paths[p.path].findNode(p.node); n != nil {
			c.missing(q, n)
		}
	}
	if b := &c.epoch.beats; b.newest == id {
		c.stop(b.timer)
		b.timer = c.after(c.pace(), beatDue{})
	}
}

// pace is the time from the answer to one heartbeat to the next.
func (c *Coordinator) pace() time.Duration {
	every := c.epoch.timeout / beatsPerTimeout
	if c.at.Lease.Left < c.epoch.timeout*shortLease/100 {
		every = c.epoch.timeout / evidencePerTimeout
	}
	return max(every-c.at.Took, shortestBeat)
}

// beatDue says that it is time for the next heartbeat.
type beatDue struct{}

func (beatDue) fires(c *Coordinator) { c.beatNow() }

// beatLate says that a heartbeat has had no answer by the time at which the next would be due: the lock is in doubt, though the
// connection is up.
type beatLate struct{ ask uint64 }

func (d beatLate) fires(c *Coordinator) {
	if c.epoch.beats.newest != d.ask || c.epoch.connection != connected {
		return
	}
	c.emit(&Note{What: Unanswered})
	for _, r := range c.inOrder() {
		if r.held {
			c.tell(r, machine.Event{Kind: machine.Silent})
		}
	}
}

// lookAtLease tells the requests when a run of the lease is over, also where the next has begun: whoever held has lost it. A
// timer alone would not do: it stands still while the machine is suspended.
func (c *Coordinator) lookAtLease() {
	if run := c.at.Lease.Run; run != c.epoch.run {
		c.epoch.run = run
		c.tellAll(machine.Event{Kind: machine.LeaseOver})
	}
	if c.epoch.lease == 0 {
		c.watchLease()
	}
}

// watchLease looks at the lease when it is due to end. While the session is disconnected it looks in between as well: timers
// stand still while the machine is suspended, and a connect request may bring the end forward.
func (c *Coordinator) watchLease() {
	c.stop(c.epoch.lease)
	c.epoch.lease = 0
	if !c.at.Lease.Valid || len(c.requests) == 0 {
		return
	}
	wait := c.at.Lease.Left
	if c.epoch.connection != connected {
		wait = min(wait, c.epoch.timeout/looksPerTimeout)
	}
	c.epoch.lease = c.after(wait, leaseDue{})
}

// leaseDue says that it is time to look at the lease.
type leaseDue struct{}

func (leaseDue) fires(c *Coordinator) {
	c.epoch.lease = 0
	c.lookAtLease()
}
