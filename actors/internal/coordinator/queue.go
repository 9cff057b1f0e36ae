package coordinator

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// queueOf finds the queue of a request, or makes it.
func (p *lockPath) queueOf(sp *Spec) *ownQueue {
	if q := p.queueNamed(sp.Style.Name, sp.One); q != nil {
		return q
	}
	q := &ownQueue{path: p, name: sp.Style.Name, one: sp.One, owners: map[string][]RequestID{}}
	p.queues = append(p.queues, q)
	return q
}

// queueNamed gives the queue of a name, or the contest for one node; nil where it is not in use.
func (p *lockPath) queueNamed(name, one string) *ownQueue {
	if p != nil {
		for _, q := range p.queues {
			if q.name == name && q.one == one {
				return q
			}
		}
	}
	return nil
}

// findNode gives the node of this session with a name, in whichever queue.
func (p *lockPath) findNode(name string) (*ownQueue, *node) {
	if p != nil { // else no request uses it any more
		for _, q := range p.queues {
			if n := q.find(name); n != nil {
				return q, n
			}
		}
	}
	return nil, nil
}

// place gives where a node of the queue is or would be.
func (q *ownQueue) place(n *node) (int, bool) {
	return slices.BinarySearchFunc(q.nodes, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
}

// has tells whether a node is in the queue, in its place.
func (q *ownQueue) has(n *node) bool {
	at, there := q.place(n)
	return there && q.nodes[at] == n
}

func (q *ownQueue) insert(n *node) {
	at, _ := q.place(n)
	q.nodes = slices.Insert(q.nodes, at, n)
}

// remove takes a node out of the queue.
func (q *ownQueue) remove(n *node) {
	switch at, there := q.place(n); {
	case !there:
	case at == 0: // most often, and there may be a hundred thousand
		q.nodes[0] = nil
		q.nodes = q.nodes[1:]
	default:
		q.nodes = slices.Delete(q.nodes, at, at+1)
	}
}

// find gives the node of this session with a name, nil where it is another's.
func (q *ownQueue) find(name string) *node {
	if q.one != "" {
		if len(q.nodes) > 0 && name == q.one {
			return q.nodes[0]
		}
		return nil
	}
	number, ok := queue.Sequence(name)
	if !ok {
		return nil
	}
	if at, there := q.place(&node{number: number, name: name}); there {
		return q.nodes[at]
	}
	return nil
}

// neighbour gives the node of this session right before another one: their numbers follow each other, so that nobody
// can come between. It is nil where there is none.
func (q *ownQueue) neighbour(n *node) *node {
	if at, there := q.place(n); there && at > 0 && q.nodes[at-1].number+1 == n.number {
		return q.nodes[at-1]
	}
	return nil
}

// ignoreArrivals ends the watch for others who come to the queue of a node.
func (q *ownQueue) ignoreArrivals(n *node) {
	if n.arrivals == arrivalsUnwatched {
		return
	}
	n.arrivals = arrivalsUnwatched
	w := watcher{role: retains, node: n.name}
	q.path.unwatch(n.name, w)
	q.path.children = without(q.path.children, w)
}
