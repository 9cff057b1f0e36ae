package coordinator

import "github.com/turnstile-locks/turnstile/actors/machine"

// Hand-over. When a holder gives the lock back, the request right behind it holds at once, before the node is deleted,
// where that one is of this session. Whoever watches a node as its predecessor has nobody between, and nobody can come
// in between; and as long as either node exists nobody of another session is first. The delete follows, and is tried
// until it is known to be done. A hold that is taken from its owner is not handed over: until its node is gone the
// owner may not have heard of it.
//
// Nor is one that a later process may reclaim: the first node of its queue is to be the one that was held with last,
// so that the next token can be told.
//
// An operator may have deleted the node of the request that has the lock now. Then the other's node has to stay, so
// that nobody else is let in, until that request has been told: a delete is one transaction with a check of the
// successor's node.

// leave notes that a node is about to be deleted, and whose is behind that of a holder in this session. A delete that
// is asked for again is about the same one.
func (c *Coordinator) leave(r *request) {
	n, p := r.node, r.queue.path
	if n.phase != present {
		return
	}
	c.setPhase(r.queue, n, deleting)
	c.endCohortOf(r.queue, n)
	if !r.held || !r.spec.exclusive() {
		return
	}
	if r.spec.Want.Reclaim != "" { // its node is to go before anybody else holds
		return
	}
	for _, w := range p.watchers[n.name] {
		next := c.requests[w.request]
		if w.role == waits && next.wait.nodes[0] == n.name && next.node.exists() && next.spec.Permits == 0 {
			n.successor = next.node
			return
		}
	}
}

// handOver grants the lock that a request gives back to the one right behind it.
func (c *Coordinator) handOver(r *request) {
	if !c.fast(HandOver) || r.node.successor == nil || c.epoch.connection != connected {
		return
	}
	next := c.requests[r.node.successor.users[0]]
	if next == nil || next.wait == nil {
		return // it has been handed over already
	}
	r.queue.run.handsOn()
	c.wake(next, machine.TurnCame, Handoff{r.gaveBack, true})
}
