package coordinator

import "time"

// What a node says. Its data name the request that it was made for, and how many requests wait behind it in its cohort.
// When a cohort passes it on both change, and the session writes them anew, for people and for those who look for
// deadlocks. Nothing else depends on it, and it keeps nobody waiting:
//
//   - one such write is under way at a time, by itself, and the next is due describeEvery later;
//   - a node is written to when two looks in a row, describeEvery apart, have found that its data are wrong: most
//     nodes of a fast cohort are gone by then;
//   - it is written in the version that was read, so that a revoke request stays. A refusal means nothing, and an
//     unknown outcome that it is to be written once more.
//
// What a create says is right for nothing: it counts those that wait when it is sent.

// describeEvery is the time between two looks at what nodes say: a session writes twice in a second at most.
const describeEvery = 500 * time.Millisecond

// describeSoon has the session look whether what its nodes say is right.
func (c *Coordinator) describeSoon() {
	if d := &c.epoch.describes; d.timer == 0 {
		d.timer = c.after(describeEvery, timer{kind: DescribeTimer})
	}
}

// checkDescription has the session look at what a node says, if that is wrong. It is called where the requests that wait
// behind a node, or that hold with it, have changed.
func (c *Coordinator) checkDescription(q *ownQueue, n *node) {
	if c.misdescribed(q, n) {
		c.describeSoon()
	}
}

// describeNew notes what the data of a node say that is about to be made for a request, and counts those behind it.
func (r *request) describeNew() (waiting int) {
	if r.spec.sharesNode() {
		waiting = len(r.queue.waitersOf(r.node))
		r.node.says = description{of: r.id, waiting: waiting}
	}
	return waiting
}

// waitersOf gives the requests that wait behind a node in its cohort, in their order: all read, or none.
func (q *ownQueue) waitersOf(n *node) []RequestID {
	if q.cohort.node == n && len(n.line) == 0 {
		return q.cohort.waiting
	}
	return n.line
}

// describable gives the request that the data of a node should name, and how many should wait behind it; nil for
// nodes that are never passed on, or about to go.
func (c *Coordinator) describable(q *ownQueue, n *node) (of *request, waiting int) {
	if len(n.users) == 0 {
		return nil, 0
	}
	r := c.requests[n.users[0]]
	if r == nil || !r.spec.sharesNode() || n.phase != present || n.wanted || r.life != active {
		return nil, 0
	}
	return r, len(q.waitersOf(n))
}

// misdescribed reports whether what a node says is to be written anew.
func (c *Coordinator) misdescribed(q *ownQueue, n *node) bool {
	of, waiting := c.describable(q, n)
	return of != nil && (n.says.of != of.id || n.says.waiting != waiting)
}

// describeDue looks at what the nodes say, and writes to the one that has waited for it the longest. While requests
// wait in a cohort it looks again.
func (c *Coordinator) describeDue() {
	d := &c.epoch.describes
	d.timer = 0
	var of *ownQueue
	var next *node
	again := false
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			again = again || len(q.cohort.waiting) > 0
			for _, n := range q.nodes {
				wasDue, wrong := n.says.due, c.misdescribed(q, n)
				n.says.due, again = wrong, again || wrong || len(n.line) > 0
				if wasDue && wrong && (next == nil || n.describedBefore(next)) {
					of, next = q, n
				}
			}
		}
	}
	if next != nil && d.asked == 0 && c.epoch.connection == connected {
		c.describe(of, next)
	}
	if again {
		c.describeSoon()
	}
}

// describedBefore reports whether it is a node's turn to be described before another's.
func (n *node) describedBefore(other *node) bool {
	if n.says.number != other.says.number {
		return n.says.number < other.says.number
	}
	return n.token < other.token || n.token == other.token && n.name < other.name
}

// describe writes what a node is to say.
func (c *Coordinator) describe(q *ownQueue, n *node) {
	d := &c.epoch.describes
	of, waiting := c.describable(q, n)
	d.writes++
	n.says = description{of: of.id, waiting: waiting, number: d.writes}
	d.asked = c.ask(&Describe{Spec: of.spec, Path: q.path.at(n.name), Waiting: waiting}, describing{q.path.path, n.name})
}

// isDescribed reports whether a write to a node is under way.
func (c *Coordinator) isDescribed(n *node) bool {
	p, any := c.epoch.asked[c.epoch.describes.asked].(describing)
	return any && p.node == n.name
}

// describing is the purpose of a Describe.
type describing struct{ path, node string }

func (p describing) answered(c *Coordinator, _ uint64, answer Answer) {
	c.epoch.describes.asked = 0
	_, n := c.epoch.paths[p.path].findNode(p.node)
	if n == nil {
		return
	}
	a := answer.(*Described)
	n.wanted = n.wanted || a.Wanted
	if f := a.Failure; !f.none() && f.Outcome != Refused {
		n.says.of = 0 // nobody knows
		c.describeSoon()
	}
}
