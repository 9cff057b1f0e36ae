package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
)

// How a retained node is reused. A session that has not heard that the node is gone does not know that it exists: an
// operator may have deleted it, and somebody else may hold, with a greater token. The event of that may be on its way,
// and a server that is cut off never sends one. So the session has the ensemble commit a transaction that checks the
// node, sent after the request came, and grants the lock when that one succeeds. While the node exists nobody behind it
// is granted the lock; whoever is granted it later has a greater token.
//
// This costs one round trip, as a create does; what is saved is the delete. A sync would
// be cheaper for the servers and prove nothing: a leader that is cut off answers it.
//
// When the check does not succeed, because the node is gone or because nobody knows, the session deletes what may be
// left of the node, and the request makes one of its own.

// checkRetained has a request go on with the retained node of its queue, if that exists.
func (c *Coordinator) checkRetained(r *request, op uint64) {
	q := r.queue
	q.retained.next, q.retained.op = r.id, op
	kept := c.requests[q.retained.request]
	c.ask(&Check{Path: q.path.at(kept.node.name)}, reuseCheck{kept.id, r.id, q.path.path, kept.node.name})
}

// reuseCheck is what the Check of a retained node is for.
type reuseCheck struct {
	kept, next RequestID
	path, node string
}

func (p reuseCheck) answered(c *Coordinator, _ uint64, answer Answer) {
	f := answer.(*Done).Failure
	q, n := c.epoch.paths[p.path].findNode(p.node)
	if n == nil || n.phase != retained || q.retained.request != p.kept {
		return
	}
	switch {
	case q.retained.next != p.next: // it has taken that back, or has made a node of its own meanwhile
		if f.is(NoNode) {
			c.release(q)
		}
	case f.none() || f.is(NoAuth): // what may not be read was found
		c.pass(q)
	default:
		c.release(q)
	}
}

// pass makes a retained node that of the request that is to have it.
func (c *Coordinator) pass(q *ownQueue) {
	kept, r, op := c.requests[q.retained.request], c.requests[q.retained.next], q.retained.op
	n := kept.node
	token := n.nextToken()
	c.stop(q.retained.timer)
	q.retained = nil
	c.epoch.retained--
	kept.node = &node{phase: left}
	n.token, n.place, n.batchMates, n.users = token, token.Place(), false, []RequestID{r.id}
	c.setPhase(q, n, present)
	r.node = n
	if n.says.of == kept.id { // it says the same of this one
		n.says.of = r.id
	} else if r.spec.sharesNode() {
		c.describeSoon()
	}
	r.lead()
	if kept.life == ended {
		c.removeRequest(kept)
	}
	c.beat()
	c.emit(&Tell{To: r.id, As: n.by,
		Event: machine.Event{Kind: machine.Joined, Op: op, Node: n.name, Token: token}})
}

// declineReuse takes back that a request is to reuse a node, which is retained on for the next; false where it was not
// to.
func (c *Coordinator) declineReuse(r *request) bool {
	q := r.queue
	if q.retained == nil || q.retained.next != r.id {
		return false
	}
	q.retained.next = 0
	kept := c.requests[q.retained.request]
	switch {
	case kept.node.arrivals == othersCame || len(q.cohort.waiting) > 0:
		c.release(q)
	case q.retained.timer == 0:
		c.endLater(q)
	}
	return true
}
