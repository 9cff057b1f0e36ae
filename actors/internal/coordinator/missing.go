package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Nodes of this session that are gone without its doing: heartbeats find that out, and transactions that need them.

// missing takes note that the servers have no such node. Its users are told.
func (c *Coordinator) missing(q *ownQueue, n *node) {
	for _, id := range n.users {
		if r := c.requests[id]; r != nil {
			c.tell(r, machine.Event{Kind: machine.NodeGone})
		}
	}
	if n.phase == retained {
		c.release(q)
	}
	c.vanished(q.path, n.name)
}

func (p heartbeat) answered(c *Coordinator, id uint64, answer Answer) {
	if answer.(*Done).Failure.is(NoNode) {
		if q, n := c.epoch.paths[p.path].findNode(p.node); n != nil {
			c.missing(q, n)
		}
	}
	if b := &c.epoch.beats; b.newest == id {
		c.stop(b.timer)
		b.timer = c.after(c.pace(), timer{kind: BeatTimer})
	}
}

// successorMissing tells the request that has the lock that its node is gone, when that is what a transaction was
// refused for that needs the nodes at some paths. It may then be asked for again.
func (c *Coordinator) successorMissing(exist []string, f Failure) bool {
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
