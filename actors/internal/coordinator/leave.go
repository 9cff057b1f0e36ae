package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Hand-over. When a holder gives the lock back, and the request right behind it is of this session, that request holds at
// once, before the node is deleted. Nobody can come between a waiter and its predecessor. As long as either node exists,
// no other session is first. A hold that is taken from its owner is not handed over: until its node is gone the owner may
// not have heard of it. Nor is one that a later process may reclaim: the next token is made from the first node of its
// queue, which must be the one that was held with last.
//
// An operator may have deleted the node of the request that has the lock now. Then the older node has to stay until that
// request has been told: a delete is one transaction with a check of the successor's node.

// leave notes that a node is about to be deleted, and the successor of a holder in this session. A delete that is asked for
// again keeps it.
func (c *Coordinator) leave(r *request) {
	n, p := r.node, r.queue.path
	if n.phase != present {
		return
	}
	n.phase = deleting
	if r.asks != (holderAsks{}) {
		c.endAsks(r)
	}
	c.unwatchOwn(r) // the answer to the delete says whether the node is gone
	if !r.held || !r.spec.exclusive() {
		return
	}
	if r.spec.Want.Reclaim != "" { // its node is to go before anybody else holds
		return
	}
	for _, w := range p.watchers[n.name] {
		next := c.requests[w.request] // it may only look ahead, and wait for another
		if w.role == awaitsNode && next.wait.nodes[0] == n.name && next.node.exists() && next.spec.Permits == 0 {
			n.successor = next.node
			return
		}
	}
}

// handOver grants the lock that a request gives back to the one right behind it.
func (c *Coordinator) handOver(r *request) {
	if c.off&HandOver != 0 || r.node.successor == nil || !c.epoch.connected {
		return
	}
	next := c.requests[r.node.successor.of]
	if next == nil || next.wait == nil {
		return // it has been handed over already
	}
	if b := &r.queue.burst; b.phase == noBurst || b.phase == burstOver { // the lock goes from one node of the session to the next
		b.begin(unmet, len(b.creates))
	}
	c.wake(next, machine.TurnCame, Handoff{r.gaveBack, true})
}

// cleanUp makes sure that nothing of a request is left, without its machine.
func (c *Coordinator) cleanUp(r *request) {
	r.removal.op = 0
	c.leave(r)
	c.remove(r)
}

// remove takes the next step of a removal, unless one is under way.
func (c *Coordinator) remove(r *request) {
	switch n := r.node; {
	case r.removal.phase == removing || r.removal.phase == removalPaused:
	case n.phase == creating || n.phase != absent && !c.epoch.connected:
		// A create under way may still make the node. Its answer goes on with the removal, or the
		// new connection does.
		r.removal.phase = removalWanted
	case n.phase == unknown:
		r.removal.phase = removing
		c.lookFor(r)
	case n.exists():
		r.removal.phase = removing
		r.kind.remove(c, r, r.removal.op)
	default:
		c.removalDone(r)
	}
}

func (c *Coordinator) goOnRemoving(r *request) {
	if r.removal.phase == removalWanted {
		r.removal.phase = noRemoval
		c.cleanUp(r)
	}
}

func (c *Coordinator) removalDone(r *request) {
	op := r.removal.op
	r.removal, r.admitted = removal{}, false
	c.recount(r)
	if op != 0 {
		c.tell(r, machine.Event{Kind: machine.Deleted, Op: op})
	}
	if r.life == ended {
		delete(c.requests, r.id)
		r.queue.path.requests--
		c.epoch.leavePath(r.queue.path)
	}
}

func (c *Coordinator) removed(r *request, op uint64, name string, f Failure) {
	r.removal.phase = noRemoval
	if !f.none() && !f.is(NoNode) {
		c.removalFailed(r, op, f)
		return
	}
	if r.node.name == name {
		c.forgetNode(r)
	} else {
		c.vanished(r.queue.path, name)
	}
	c.removalDone(r)
}

type contestRemoval struct{ operation }

func (p contestRemoval) answered(c *Coordinator, _ uint64, answer Answer) {
	r := c.requests[p.request]
	c.removed(r, p.op, r.spec.One, answer.failure())
}

// removalFailed tells the machine that waits for the removal. Where none waits, it is tried again after a pause. A node
// that may not be deleted would keep everybody out, so the session is ended.
func (c *Coordinator) removalFailed(r *request, op uint64, f Failure) {
	switch newest := r.removal.op; {
	case newest != 0 && newest != op: // it has asked anew meanwhile
		c.remove(r)
		return
	case newest != 0:
		r.removal.op = 0
		c.tell(r, failed(op, f))
		return
	}
	note := Note{What: NotRemoved, Path: r.spec.Path, Node: r.node.name, Token: int64(r.node.token), Detail: f.Detail}
	if f.is(NoAuth) {
		note.What = MayNotRemove
		c.emit(&note)
		c.doomed = true
		return
	}
	r.removal.tries++
	r.removal.phase = removalPaused
	note.Tries = r.removal.tries
	c.emit(&note)
	pause := spread(min(time.Duration(r.removal.tries)*removalStep, c.epoch.timeout), r.removal.tries, uint64(r.id))
	c.after(pause, timer{kind: RetryTimer, operation: operation{request: r.id}})
}

func (c *Coordinator) retryRemoval(t timer) {
	if r := c.requests[t.request]; r != nil && r.removal.phase == removalPaused {
		r.removal.phase = noRemoval
		c.remove(r)
	}
}
