package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
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

// cohortsPerTimeout bounds the time for which one node serves: so many sessions have their turn within a session
// timeout, however long each grant is held for.
const cohortsPerTimeout = 20

// joinCohort has a request wait for the node of its session; false where it is to go on by itself.
func (c *Coordinator) joinCohort(r *request, op uint64) bool {
	k := &r.queue.cohort
	switch {
	case !r.spec.sharesNode() || k.called == r.id || k.node != nil && k.node == r.node:
		return false
	case k.node == nil && k.called == 0: // nobody leads
		k.called = r.id
		return false
	case k.node != nil && k.node.phase == retained && r.queue.retained.next == 0: // nobody is to reuse it yet
		return false
	}
	r.sharing.joined = op
	if !r.sharing.inLine {
		r.sharing.inLine = true
		k.waiting = append(k.waiting, r.id)
	}
	var behind Behind
	if k.node != nil {
		behind = c.ownBehind(r.queue, k.node.name)
	}
	if r.life != ended {
		c.emit(&Tell{To: r.id, Behind: behind, Event: machine.Event{Kind: machine.Taken, Op: op, Predecessor: behind.Node}})
	}
	return true
}

// lead notes that the node of a request is to serve the cohort of its queue.
func (r *request) lead() {
	k := &r.queue.cohort
	if !r.spec.sharesNode() || k.node == r.node {
		return
	}
	if k.called == r.id {
		k.called = 0
	}
	k.node, k.grants, k.watched = r.node, 0, false
}

// leaveCohort notes that a request does not wait any more, or is not to lead.
func (c *Coordinator) leaveCohort(r *request) {
	k := &r.queue.cohort
	if r.sharing.inLine {
		r.sharing.inLine = false
		k.waiting = slices.DeleteFunc(k.waiting, func(id RequestID) bool { return id == r.id })
	}
	if k.called == r.id {
		k.called = 0
		c.callNext(r.queue)
	}
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
	c.tell(next, machine.Event{Kind: machine.PredecessorGone})
}

// endCohortOf ends the cohort that a node serves: it serves no further request. Who holds with it keeps it.
func (c *Coordinator) endCohortOf(q *ownQueue, n *node) {
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
	if q := c.epoch.paths[t.path].queueNamed(t.queue, ""); q != nil {
		q.cohort.timer = 0
		c.endCohortOf(q, q.cohort.node)
	}
}
