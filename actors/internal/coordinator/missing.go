package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Nodes of this session that are gone without its doing: heartbeats find that out, and transactions that need them.

// missing takes note that the servers have no such node. Its request is told.
func (c *Coordinator) missing(q *ownQueue, n *node) {
	c.tell(c.requests[n.of], machine.Event{Kind: machine.NodeGone})
	c.vanished(q.path, n.name)
}

func (p heartbeat) answered(c *Coordinator, id uint64, answer Answer) {
	if answer.(*Ack).Failure.is(NoNode) {
		if q, n := c.epoch.paths[p.path].findNode(p.node); n != nil && n.token.Zxid() == p.zxid {
			c.missing(q, n)
		}
	}
	if b := &c.epoch.beats; b.newest == id {
		c.stop(b.timer)
		b.timer = c.after(c.pace(), timer{kind: BeatTimer})
	}
}

// successorLacks takes note that a transaction was refused for one of the nodes at some paths that it needs, which is gone.
// It may then be asked for again. The request that has the lock is told.
func (c *Coordinator) successorLacks(exist []string, f Failure) bool {
	if !f.is(NoNode) || !slices.Contains(exist, f.Path) {
		return false
	}
	path, name := split(f.Path)
	if q, n := c.epoch.paths[path].findNode(name); n != nil && n.phase == present {
		n.phase = deleting // nobody looks for it any more
		c.missing(q, n)
	}
	return true
}
