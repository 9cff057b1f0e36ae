package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
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
		c.dropRetained(q)
	}
	c.endCohortOf(q, n)
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

func (p serving) answered(c *Coordinator, _ uint64, answer Answer) {
	q, n := c.epoch.paths[p.path].findNode(p.node)
	if n == nil {
		return
	}
	switch a := answer.(*Read); {
	case a.Failure.is(NoNode):
		c.missing(q, n)
	case a.Failure.none() && queue.IsRevokeRequest(a.Data):
		n.wanted = true
		c.endCohortOf(q, n)
	}
}

// served takes the event of a node that serves a cohort: it is gone, or somebody has written a
// revoke request there. While a write of the session itself is under way, the event may be of that:
// the node is read again.
func (c *Coordinator) served(p *lockPath, name string, change Change) {
	q, n := p.findNode(name)
	switch {
	case n == nil:
	case change == NodeDeleted:
		c.missing(q, n)
	case q.cohort.node == n && c.isDescribed(n):
		c.watchAnew(q, n)
	default:
		c.endCohortOf(q, n)
	}
}

// successorUnread notes that a transaction was refused because the session may not READ a node of its
// own that it needs. It may then be asked for again.
func (c *Coordinator) successorUnread(exist []string, f Failure) bool {
	refused := f.is(NoAuth) && slices.Contains(exist, f.Path)
	c.blind = c.blind || refused
	return refused
}

// successorMissing tells the request that has the lock that its node is gone, when a transaction that needs
// the nodes at some paths was refused for that. It may then be asked for again.
func (c *Coordinator) successorMissing(exist []string, f Failure) bool {
	if !f.is(NoNode) || !slices.Contains(exist, f.Path) {
		return false
	}
	path, name := split(f.Path)
	if q, n := c.epoch.paths[path].findNode(name); n != nil && n.phase == present {
		c.setPhase(q, n, deleting) // nobody looks for it any more
		c.endCohortOf(q, n)
		c.missing(q, n)
	}
	return true
}
