package coordinator

import "time"

// Whom a node names. Its data name the request that it was made for, or that has found it. When it is passed on to
// another request, the session writes that one's name there. The search for deadlocks in other processes goes by it, and
// so do people. Nothing else depends on it, and it delays nobody:
//
//   - one such write is under way at a time, by itself, and the next is due describeEvery later;
//   - a node is written to when two looks in a row, describeEvery apart, have found that its data are wrong: most
//     nodes of a fast cohort are gone by then;
//   - it is written in the version that was read, so that a revoke request stays. A refusal means nothing, and an
//     unknown outcome that it is to be written once more.
//
// How many requests wait behind it only their session knows: see Coordinator.Waiting.

// describeEvery is the time between two looks at what nodes say: a session writes twice in a second at most.
const describeEvery = 500 * time.Millisecond

// describeSoon has the session look whether what its nodes say is right.
func (c *Coordinator) describeSoon() {
	if d := &c.epoch.describes; d.timer == 0 {
		d.timer = c.after(describeEvery, timer{kind: DescribeTimer})
	}
}

// checkDescription has the session look at what a node says, if that is wrong. It is called where the first user of a
// node has changed.
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

// misdescribed reports whether what a node says is to be written anew.
func (c *Coordinator) misdescribed(n *node) bool {
	of := c.describable(n)
	return of != nil && n.says.of != of.id
}

// describeDue looks at what the nodes say, and writes to the one that has waited for it the longest. It looks again while
// others are wrong.
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
