package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Readers of a cohort. They exclude nobody of their kind, so they hold with one node together: those that stand in its
// line as soon as the request is granted the lock that has made it, and whoever comes later at once. The node is shared
// as by the requests of one owner, and goes with the last of them. They have one token, that of the node: greater than
// those of all writers before it, less than those of all behind.
//
// A node serves as many as were asked for; the next reader makes another. Whether a writer of another session waits
// behind the node is not known without a listing, so that the time for which it serves is bounded as in any cohort:
// then readers queue behind the writer. A writer of this session is known: readers that come after it do not join
// those that came before it. When a node goes before it was granted the lock, those in its line ask anew.

// heldByReaders tells whether the node of a cohort of readers has the lock.
func (k *cohort) heldByReaders() bool {
	return k.style.Mode == messages.Read && k.node != nil && k.grants > 0
}

// letsIn tells whether one more may read with a node that has the lock. That it exists is known as where a node is
// passed on.
func (c *Coordinator) letsIn(n *node) bool {
	return n.phase == present && !n.wanted && c.epoch.connection == connected && c.at.Lease.Valid
}

// endClosedReaders ends a cohort of readers that lets nobody in any more, for a reader that makes its own node.
func (c *Coordinator) endClosedReaders(r *request) {
	k := &r.queue.cohort
	if r.spec.Reads() && r.spec.sharesNode() && k.heldByReaders() && k.node != r.node && k.style == r.spec.Style {
		c.endCohortOf(r.queue, k.node)
	}
}

// letReadersIn grants the lock, which was granted to a reader, to those in the line of its node.
func (c *Coordinator) letReadersIn(r *request) {
	n := r.node
	for len(n.line) > 0 && c.letsIn(n) {
		next := c.takeFirst(n)
		c.letIn(next, n, next.waitsInLine())
	}
	c.dissolveLine(n)
}

// letIn grants the lock to one more reader, with a node that has it.
func (c *Coordinator) letIn(r *request, n *node, op uint64) {
	q := r.queue
	r.node, r.search = n, search{}
	n.users = append(n.users, r.id)
	c.granted(r)
	c.emit(&Tell{To: r.id, As: n.by, Event: machine.Event{Kind: machine.Joined, Op: op, Node: n.name, Token: n.token}})
	k := &q.cohort
	if k.node != n {
		return
	}
	c.watchServing(q)
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
	default: // those in line have come before it
		k.node = nil
	}
}
