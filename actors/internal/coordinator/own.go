package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// ownWatch is how a holder's own node is watched: for a request to give the lock back, and for an operator who deletes it.
type ownWatch struct {
	phase ownPhase
	op    uint64
	// announced: in a semaphore, the one behind was told that this one holds. Once for each node: the write's own event may
	// come back here when others of this session watch the node.
	announced bool
}

type ownPhase uint8

const (
	unwatched ownPhase = iota
	// owed: it is to be read before long.
	owed
	// watched: it was read, or is being read.
	watched
)

// readDelay is how long, at least, the reading of a holder's node is put off, and at most twice that. Who holds for less
// spares the servers the request, which is one of three of an uncontended cycle; what was written to the node before is
// found then.
const readDelay = 5 * time.Millisecond

// reads are the own nodes that are owed a read, in the order in which they were asked for.
type reads struct {
	older, newer []reading
}

type reading struct {
	request RequestID
	op      uint64
}

// readsDue says that the older ones are due.
type readsDue struct{}

// watchOwn reads a holder's own node and watches it, before long.
func (c *Coordinator) watchOwn(r *request, op uint64) {
	c.unwatchOwn(r)
	if !r.kind.readsLate() { // others wait to hear of it, or it may be another's node
		c.readOwn(r, op)
		return
	}
	r.own.phase, r.own.op = owed, op
	due := &c.epoch.reads
	if len(due.older)+len(due.newer) == 0 {
		c.after(readDelay, readsDue{})
	}
	due.newer = append(due.newer, reading{r.id, op})
}

func (readsDue) fires(c *Coordinator) {
	due := c.epoch.reads.older
	c.epoch.reads = reads{older: c.epoch.reads.newer}
	if len(c.epoch.reads.older) > 0 {
		c.after(readDelay, readsDue{})
	}
	for _, d := range due {
		if r := c.requests[d.request]; r != nil && r.own.phase == owed && r.own.op == d.op && c.epoch.connection == connected && r.life != ended {
			c.readOwn(r, d.op)
		}
	}
}

func (c *Coordinator) readOwn(r *request, op uint64) {
	announces := r.spec.Permits > 0 && !r.own.announced
	r.own = ownWatch{watched, op, r.spec.Permits > 0}
	r.queue.path.watch(r.node.name, watcher{request: r.id, role: holds})
	c.ask(&ReadOwn{Path: r.queue.path.at(r.node.name), Announce: announces}, ownReading{r.id, op})
}

// ownReading is what a ReadOwn is for.
type ownReading struct {
	request RequestID
	op      uint64
}

func (p ownReading) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Read)
	if r == nil || r.own.phase != watched || r.own.op != p.op {
		return
	}
	f := a.Failure
	if f.none() && r.spec.One != "" && a.Czxid != r.node.token.Zxid() {
		f = Failure{Outcome: Refused, Cause: NoNode} // another has made it since ours was deleted
	}
	switch {
	case f.none():
		r.node.wanted = queue.IsRevokeRequest(a.Data)
		c.tell(r, machine.Event{Kind: machine.OwnRead, Op: p.op, Unlock: r.node.wanted})
	case f.is(NoNode):
		c.tell(r, machine.Event{Kind: machine.NodeGone, Op: p.op})
		c.vanished(r.queue.path, r.node.name)
	default:
		r.own.announced = r.own.announced && f.Outcome == Refused // else nobody knows
		c.tell(r, failed(p.op, f))
	}
}

// ownChanged takes an event of a holder's own node.
func (c *Coordinator) ownChanged(r *request, name string, change Change) {
	if r == nil || r.own.phase != watched || r.node.name != name { // it has gone on
		return
	}
	r.own.phase = unwatched
	kind := machine.OwnChanged
	if change == NodeDeleted {
		kind = machine.NodeGone
	}
	c.tell(r, machine.Event{Kind: kind, Op: r.own.op})
}

// unwatchOwn forgets the watch on a request's own node.
func (c *Coordinator) unwatchOwn(r *request) {
	if r.own.phase == watched {
		r.queue.path.drop(r.node.name, watcher{request: r.id, role: holds})
	}
	r.own.phase = unwatched
}
