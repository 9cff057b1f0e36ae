package coordinator

import "time"

// Descriptions. The data of a node name the request that it was made for, or that has found it.
// When the node is passed on, the session writes the name of its new request there. The search for
// deadlocks in other processes reads the name, and so do people. Nothing else depends on it, and
// the writes delay no request:
//
//   - one such write is under way at a time, by itself, and the next is due describeEvery later;
//   - a node is written to when two looks in a row, describeEvery apart, have found that its data are wrong: most
//     nodes of a fast cohort are gone by then;
//   - it is written in the version that was read, so that a revoke request stays. A write that is
//     refused is not tried again; one with an unknown outcome is.
//
// The data do not say how many requests wait behind the node in its session: see
// Coordinator.Waiting.

// describeEvery is the time between two looks at the data of nodes: a session writes twice in a
// second at most.
const describeEvery = 500 * time.Millisecond

// describeSoon starts the timer of the next look at the data of nodes, unless it runs.
func (c *Coordinator) describeSoon() {
	if d := &c.epoch.describes; d.timer == 0 {
		d.timer = c.after(describeEvery, timer{kind: DescribeTimer})
	}
}

// checkDescription has the session look at the data of a node before long, if they are wrong. It is
// called where the first user of a node has changed.
func (c *Coordinator) checkDescription(n *node) {
	if c.misdescribed(n) {
		c.describeSoon()
	}
}

// describable gives the request that the data of a node should name; nil for nodes that are never passed on, or about to
// go.
func (c *Coordinator) describable(n *node) *request {
	if len(n.users) == 0 {
		return nil
	}
	r := c.requests[n.users[0]]
	if r == nil || !r.spec.sharesNode() || n.phase != present || n.wanted || r.life != active {
		return nil
	}
	return r
}

// misdescribed reports whether the data of a node are to be written anew.
func (c *Coordinator) misdescribed(n *node) bool {
	of := c.describable(n)
	return of != nil && n.says.of != of.id
}

// describeDue looks at the data of all nodes, and writes to the node that has waited for it the
// longest. It looks again while the data of others are wrong.
func (c *Coordinator) describeDue() {
	d := &c.epoch.describes
	d.timer = 0
	var of *ownQueue
	var next *node
	wrong := 0
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				wasDue := n.says.due
				if n.says.due = c.misdescribed(n); !n.says.due {
					continue
				}
				wrong++
				if wasDue && (next == nil || n.describedBefore(next)) {
					of, next = q, n
				}
			}
		}
	}
	if next != nil && d.asked == 0 && c.epoch.connected {
		c.describe(of, next)
		wrong--
	}
	if wrong > 0 {
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

// describe writes the present request into the data of a node.
func (c *Coordinator) describe(q *ownQueue, n *node) {
	d := &c.epoch.describes
	of := c.describable(n)
	d.writes++
	n.says = description{of: of.id, number: d.writes}
	d.asked = c.ask(&Describe{Spec: of.spec, Path: q.path.at(n.name)}, describing{path: q.path.path, node: n.name})
}

// isDescribed reports whether a write to a node is under way.
func (c *Coordinator) isDescribed(n *node) bool {
	p, any := c.epoch.asked[c.epoch.describes.asked].(describing)
	return any && p.node == n.name
}

// describing is the purpose of a Describe.
type describing struct {
	neverStale
	path, node string
}

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
