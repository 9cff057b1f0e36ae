package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Readers of a cohort. They exclude nobody of their kind, so those that wait for the node of their cohort hold with it
// together: as soon as the one that leads is granted the lock all of them are, as far as the node may serve, and
// whoever comes later is at once. The node is shared as by the requests of one owner, and goes with the last of them.
// They have one token, that of the node: greater than those of all writers before it, less than those of all behind.
//
// Whether a writer of another session waits behind the node is not known without a listing. So the cohort is bounded
// as any other is, by a number of grants and a time: then readers queue behind the writer. A writer of this session is
// known: readers that come after it do not join those that came before it.

// heldByReaders tells whether the node of a cohort of readers has the lock.
func (k *cohort) heldByReaders() bool {
	return k.style.Mode == messages.Read && k.node != nil && k.grants > 0
}

// letsIn tells whether one more may read with the node of a cohort. That the node exists is known as where one is
// passed on.
func (c *Coordinator) letsIn(k *cohort) bool {
	return k.heldByReaders() && k.node.phase == present && !k.node.wanted &&
		c.epoch.connection == connected && c.at.Lease.Valid
}

// readAlong grants a reader the lock that its cohort has; false where it is to queue.
func (c *Coordinator) readAlong(r *request, op uint64) bool {
	switch k := &r.queue.cohort; {
	case !k.heldByReaders() || !r.spec.sharesNode() || k.style != r.spec.Style || k.node == r.node:
		return false
	case !c.letsIn(k):
		c.endCohortOf(r.queue, k.node)
		return false
	default:
		c.letIn(r, op)
		return true
	}
}

// letReadersIn grants the lock to those who wait for the node of a reader that was granted it. Those whom it may not
// serve wait for the next.
func (c *Coordinator) letReadersIn(q *ownQueue) {
	k := &q.cohort
	for len(k.waiting) > 0 && c.letsIn(k) {
		next := c.takeNext(k)
		c.letIn(next, next.waitsInLine())
	}
	if k.heldByReaders() && (len(k.waiting) > 0 || k.closed) {
		c.endCohortOf(q, k.node)
	}
}

// letIn grants the lock with the node of a cohort to one more reader.
func (c *Coordinator) letIn(r *request, op uint64) {
	q := r.queue
	k := &q.cohort
	n := k.node
	r.node, r.search = n, search{}
	n.users = append(n.users, r.id)
	c.granted(r)
	c.watchServing(q)
	c.emit(&Tell{To: r.id, As: n.by, Event: machine.Event{Kind: machine.Joined, Op: op, Node: n.name, Token: n.token}})
	if k.grants++; k.grants >= r.spec.Want.Cohort {
		c.endCohortOf(q, n)
	}
}

// keepReadersBehind notes that a request is about to queue: readers that come after one that excludes them are to be
// behind it.
func (c *Coordinator) keepReadersBehind(r *request) {
	switch k := &r.queue.cohort; {
	case r.spec.Reads() || k.node == nil || k.style.Mode != messages.Read:
	case k.heldByReaders():
		c.endCohortOf(r.queue, k.node)
	default: // those who wait to read have come before it
		k.closed = true
	}
}
