package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Cohorts (Dice, Marathe, Shavit: Lock Cohorting, PPoPP 2012). Requests of one session for one lock that ask for it
// share one node. The first makes it and leads: it waits behind the other sessions like anybody else. Those that come
// after it have no node and nothing at the servers; when a holder gives back, the next of them holds with the same
// node, at once, and with the next place of the node's token: see pass_on.go.
//
// A node serves as many grants as its holder asks for, and for a bounded time. Then, and when somebody wants the lock
// back, the cohort ends: the last holder keeps the node until it gives back, and the next request that waits makes a
// node of its own, behind the sessions that wait meanwhile, and leads from then on. So nobody waits for more than one
// cohort of each other session.
//
// Readers hold with the node together, and stand in a line of their own: see read_along.go.

// cohortsPerTimeout bounds the time for which one node serves: so many sessions have their turn within a session
// timeout, however long each grant is held for.
const cohortsPerTimeout = 20

// enterLineOf has a request wait for the node of its cohort; nil for one that is still to be made.
func (c *Coordinator) enterLineOf(r *request, n *node, op uint64) {
	k := &r.queue.cohort
	r.sharing.joined = op
	switch {
	case r.sharing.with != nil, r.sharing.inLine: // it asks again
	case k.style.Mode == messages.Read:
		c.standInLine(r)
	default:
		r.sharing.inLine = true
		k.waiting = append(k.waiting, r.id)
		c.describeSoon()
	}
	c.taken(r, op, n)
}

// standInLine has a reader wait for the node of its cohort. With the last that it may serve the next is to lead.
func (c *Coordinator) standInLine(r *request) {
	k := &r.queue.cohort
	n := k.node
	r.sharing.with = n
	c.describeSoon()
	if n.line = append(n.line, r.id); len(n.line)+1 >= r.spec.Want.Cohort {
		k.node = nil
	}
}

// mayLead notes that a request is to make the node of its cohort, where nobody is. Others wait for it from now on, also
// while it stands in the line of the queue.
func (r *request) mayLead() {
	if k := &r.queue.cohort; r.spec.sharesNode() && !r.spec.Reads() && k.node == nil && k.called == 0 {
		k.called, k.style = r.id, r.spec.Style
	}
}

// taken tells a request that it is to wait for a node; nil for one that is to be made.
func (c *Coordinator) taken(r *request, op uint64, n *node) {
	tell := &Tell{To: r.id, Event: machine.Event{Kind: machine.Taken, Op: op}}
	if n != nil {
		tell.Predecessor, tell.Event.Predecessor = c.predecessorNode(r.queue, n), n.name
	}
	if r.life != ended {
		c.emit(tell)
	}
}

// lead notes that the node of a request is to serve the cohort of its queue.
func (r *request) lead() {
	k := &r.queue.cohort
	if !r.spec.sharesNode() || k.node != nil || k.called != 0 && k.called != r.id {
		return
	}
	k.node, k.called, k.grants = r.node, 0, 0
	k.style, k.watched = r.spec.Style, false
}

// leaveCohort notes that a request does not wait any more, or is not to lead.
func (c *Coordinator) leaveCohort(r *request) {
	k := &r.queue.cohort
	if n := r.sharing.with; n != nil {
		r.sharing.with = nil
		n.line = slices.DeleteFunc(n.line, func(id RequestID) bool { return id == r.id })
	}
	if r.sharing.inLine {
		r.sharing.inLine = false
		k.waiting = slices.DeleteFunc(k.waiting, func(id RequestID) bool { return id == r.id })
	}
	if k.called == r.id {
		k.called = 0
		c.callNext(r.queue)
	}
}

// waitsInLine is the operation in which the machine of a request waits, or waited, in a cohort: the one after its create,
// for it has heard that the node is taken before anything else. When its machine has gone on since, because the
// connection was lost or it looks again, what it is told in that operation is void. It asks for a node again then, or
// whether it has one, and is told what it was given.
func (r *request) waitsInLine() uint64 { return r.sharing.joined + 1 }

// tellNode tells a request, which asks for a node, of the one that it was given since its machine asked last: in a
// cohort, or one that was retained.
func (c *Coordinator) tellNode(r *request, op uint64) {
	n, kind := r.node, machine.Created
	if r.held {
		kind = machine.Joined
	}
	c.emit(&Tell{To: r.id, As: n.by, Event: machine.Event{Kind: kind, Op: op, Node: n.name, Token: n.token}})
}

// takeNext takes the next of those that wait.
func (c *Coordinator) takeNext(k *cohort) *request {
	r := c.requests[k.waiting[0]]
	if k.waiting = k.waiting[1:]; len(k.waiting) == 0 {
		k.waiting = nil
	}
	r.sharing.inLine = false
	return r
}

// callNext has the first that waits make a node and lead, where nobody does.
func (c *Coordinator) callNext(q *ownQueue) {
	k := &q.cohort
	if k.node != nil || k.called != 0 || len(k.waiting) == 0 || c.epoch.connection != connected {
		return
	}
	next := c.takeNext(k)
	k.called = next.id
	c.tell(next, machine.Event{Kind: machine.PredecessorGone, Op: next.waitsInLine()})
}

// takeFirst takes the first of the readers that are to hold with a node.
func (c *Coordinator) takeFirst(n *node) *request {
	r := c.requests[n.line[0]]
	if n.line = n.line[1:]; len(n.line) == 0 {
		n.line = nil
	}
	r.sharing.with = nil
	return r
}

// dissolveLine has the readers that were to hold with a node ask anew.
func (c *Coordinator) dissolveLine(n *node) {
	for len(n.line) > 0 {
		r := c.takeFirst(n)
		c.tell(r, machine.Event{Kind: machine.PredecessorGone, Op: r.waitsInLine()})
	}
}

// endCohortOf ends the cohort that a node serves: it serves no further request. Who holds with it keeps it.
func (c *Coordinator) endCohortOf(q *ownQueue, n *node) {
	c.dissolveLine(n)
	k := &q.cohort
	if k.node != n {
		return
	}
	if k.watched {
		q.path.unwatch(n.name, watcher{role: serves, node: n.name})
	}
	c.stop(k.timer)
	k.node, k.timer, k.watched = nil, 0, false
	c.callNext(q)
}

// boundCohort notes that the lock is granted with a node, which is to serve others for a while only.
func (c *Coordinator) boundCohort(r *request) {
	if k := &r.queue.cohort; k.node == r.node && k.timer == 0 {
		k.grants++
		k.timer = c.after(c.epoch.timeout/cohortsPerTimeout,
			timer{kind: CohortTimer, path: r.queue.path.path, queue: r.queue.name})
	}
}

// cohortOver ends a cohort whose node has served for long enough.
func (c *Coordinator) cohortOver(t timer) {
	q := c.epoch.paths[t.path].queueNamed(t.queue, "")
	if q == nil {
		return
	}
	q.cohort.timer = 0
	if q.cohort.node != nil {
		c.endCohortOf(q, q.cohort.node)
	}
}
