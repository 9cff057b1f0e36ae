package coordinator

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Heartbeats (keepalive). While there is a node, a transaction that changes nothing but needs a node is committed every so often:
// nothing less extends the lease (see package zkconn/lease), and it tells of a node that is gone.

const (
	// beatsPerTimeout: a grant needs a lease that is valid now and must not cost a round trip to get one.
	beatsPerTimeout = 6
	// evidencePerTimeout is the number of heartbeats in a session timeout while the session lacks
	// the evidence for a grant, or for a lease that lasts: at first after a grant, and where round
	// trips take more than a twenty-fourth of the session timeout. The evidence takes about a third
	// of the session timeout, see package zkconn/lease.
	evidencePerTimeout = 16
	// shortLease, in percent of the session timeout: a lease below that does not last. The steady one is above it.
	shortLease = 30
	// checksPerTimeout is the number of checks of the lease in a session timeout while the session
	// is disconnected, and so sends no heartbeats.
	checksPerTimeout = 100
	// shortestBeat keeps heartbeats that fail at once from following each other at once.
	shortestBeat = 10 * time.Millisecond
)

// beat begins the heartbeats, unless they run. They end by themselves when there is no node any more.
func (c *Coordinator) beat() {
	if c.epoch.beats.newest == 0 {
		c.beatNow()
	}
}

// beatAnew sends a heartbeat at once on a new connection, unless the servers hang up on heartbeats.
// One that was under way, or due, goes on no longer.
func (c *Coordinator) beatAnew() {
	b := &c.epoch.beats
	c.stop(b.timer)
	if b.failed && !b.others && b.many < maxHangUps {
		b.many++
	}
	b.failed, b.others = false, false
	if b.many < suspected {
		c.beatNow()
		return
	}
	c.numbers++ // it is due
	b.newest, b.timer = c.numbers, c.after(c.beatPause(), timer{kind: BeatTimer})
}

// maxHangUps bounds the count of hang-ups: the pause does not grow any more.
const maxHangUps = 8

// beatPause gives the pause of a heartbeat on a new connection when the servers have hung up on the
// ones before. Sent at once, each would cost a reconnect within milliseconds. The connection keeps
// the session alive meanwhile, and other requests go on. While a lease is valid, the pause is at
// most a quarter of the time that the lease has left. So there are at least three more attempts,
// and a server that does not hang up any more is found in time.
func (c *Coordinator) beatPause() time.Duration {
	bound := c.epoch.timeout / evidencePerTimeout
	if left := c.at.Lease.Left; left > 0 {
		bound = min(c.epoch.timeout/beatsPerTimeout, left/4)
	}
	return max(min(pauseAfter(c.epoch.beats.many, 0), bound), shortestBeat)
}

func (c *Coordinator) countBeat(p heartbeat, f Failure) {
	b := &c.epoch.beats
	switch {
	case f.Outcome == Unknown && f.Trouble != "":
		if b.failed = true; b.many+1 >= suspected && !b.others {
			text := fmt.Sprintf("%s, %d times", f.Trouble, b.many+1)
			c.emit(&Trouble{Path: p.path, Text: text})
		}
	case f.Outcome == Applied, f.Outcome == Refused:
		if b.many >= suspected {
			c.emit(&Trouble{Path: p.path})
		}
		b.hangUps = hangUps{}
	}
}

func (c *Coordinator) beatNow() {
	b := &c.epoch.beats
	c.checkLease()
	b.newest, b.timer = 0, 0
	p, n := c.target()
	if n == nil || !c.epoch.connected {
		return
	}
	b.sent++
	n.checked = b.sent
	b.newest = c.ask(&Check{Path: p.at(n.name), Beat: true}, heartbeat{path: p.path, node: n.name, zxid: n.token.Zxid()})
	b.timer = c.after(c.epoch.timeout/beatsPerTimeout, timer{kind: LateTimer})
}

// heartbeat is the purpose of a Check that is a heartbeat. Its answer is taken in missing.go.
type heartbeat struct {
	path, node string
	zxid       int64 // of the node's token: in a contest, the next holder's node has the same name
}

// target gives the node that the next heartbeat checks: of the nodes with which a request holds, or
// else of all, the node that was checked the longest ago. So each has its turn, however many there
// are.
func (c *Coordinator) target() (at *lockPath, next *node) {
	held := false
	for p, n := range c.epoch.nodes {
		holds := c.requests[n.of].held
		if next == nil || holds && !held || holds == held && n.checkedBefore(next) {
			at, next, held = p, n, holds
		}
	}
	return at, next
}

// pace is the time from the answer to one heartbeat to the next.
func (c *Coordinator) pace() time.Duration {
	every := c.epoch.timeout / beatsPerTimeout
	if c.at.Lease.Left < c.epoch.timeout*shortLease/100 {
		every = c.epoch.timeout / evidencePerTimeout
	}
	return max(every-c.at.Took, shortestBeat)
}

// beatLate tells the holders that a heartbeat has had no answer by the time at which the next would be due: the lock is
// in doubt, though the connection is up.
func (c *Coordinator) beatLate() {
	if !c.epoch.connected {
		return
	}
	c.emit(&Note{What: Unanswered})
	for _, r := range c.inOrder() {
		if r.held {
			c.tell(r, machine.Event{Kind: machine.Silent})
		}
	}
}

// checkLease tells the requests when a term of the lease is over, also where the next has begun: each holder has lost
// the lock. A timer alone would not do: it stands still while the machine is suspended.
func (c *Coordinator) checkLease() {
	if term := c.at.Lease.Term; term != c.epoch.leaseTerm {
		c.epoch.leaseTerm = term
		c.tellAll(machine.Event{Kind: machine.LeaseOver})
	}
	if c.epoch.leaseTimer == 0 {
		c.watchLease()
	}
}

// watchLease has the lease checked when it is due to end. While the session is disconnected it is checked in between as
// well: timers stand still while the machine is suspended, and a connect request may bring the end forward.
func (c *Coordinator) watchLease() {
	c.stop(c.epoch.leaseTimer)
	c.epoch.leaseTimer = 0
	if !c.at.Lease.Valid || len(c.requests) == 0 {
		return
	}
	wait := c.at.Lease.Left
	if !c.epoch.connected {
		wait = min(wait, c.epoch.timeout/checksPerTimeout)
	}
	c.epoch.leaseTimer = c.after(wait, timer{kind: LeaseTimer})
}
