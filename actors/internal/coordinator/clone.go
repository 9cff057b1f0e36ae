package coordinator

import (
	"maps"
	"slices"
)

// Clone gives a coordinator that goes on by itself from the same state. Specs, views and what a purpose says are never
// changed, and shared.
func (c *Coordinator) Clone() *Coordinator {
	k := cloner{nodes: map[*node]*node{}, queues: map[*ownQueue]*ownQueue{}}
	next := *c
	next.out, next.at = nil, At{}
	next.epoch = k.epoch(c.epoch)
	next.requests = make(map[RequestID]*request, len(c.requests))
	for id, r := range c.requests {
		next.requests[id] = k.request(r)
	}
	return &next
}

// cloner knows what was cloned already.
type cloner struct {
	nodes  map[*node]*node
	queues map[*ownQueue]*ownQueue
}

func (k cloner) epoch(e epoch) epoch {
	paths := e.paths
	e.paths = make(map[string]*lockPath, len(paths))
	for name, p := range paths {
		e.paths[name] = k.path(p)
	}
	e.unused, e.parked = slices.Clone(e.unused), slices.Clone(e.parked)
	e.asked, e.timers = maps.Clone(e.asked), maps.Clone(e.timers)
	e.batch.waiting = slices.Clone(e.batch.waiting)
	e.reads = reads{slices.Clone(e.reads.older), slices.Clone(e.reads.newer)}
	e.overRows = nil // nothing but within Apply
	return e
}

func (k cloner) path(from *lockPath) *lockPath {
	p := *from
	p.probe.waiting = slices.Clone(p.probe.waiting)
	p.children = slices.Clone(p.children)
	if p.listing != nil {
		l := *p.listing
		l.waiting, l.late = slices.Clone(l.waiting), slices.Clone(l.late)
		p.listing = &l
	}
	p.watchers = make(map[string][]watcher, len(from.watchers))
	for name, all := range from.watchers {
		p.watchers[name] = slices.Clone(all)
	}
	p.queues = make([]*ownQueue, len(from.queues))
	for i, q := range from.queues {
		p.queues[i] = k.queue(q, &p)
	}
	return &p
}

func (k cloner) queue(from *ownQueue, of *lockPath) *ownQueue {
	q := *from
	q.path = of
	q.nodes = make([]*node, len(from.nodes))
	for i, n := range from.nodes {
		q.nodes[i] = k.node(n)
	}
	q.members = slices.Clone(q.members)
	q.owners = make(map[string][]RequestID, len(from.owners))
	for owner, all := range from.owners {
		q.owners[owner] = slices.Clone(all)
	}
	q.row.creates, q.row.deletes = slices.Clone(q.row.creates), slices.Clone(q.row.deletes)
	if q.retained != nil {
		kept := *q.retained
		q.retained = &kept
	}
	k.queues[from] = &q
	return &q
}

func (k cloner) node(from *node) *node {
	if from == nil {
		return nil
	}
	if n := k.nodes[from]; n != nil {
		return n
	}
	n := *from
	k.nodes[from] = &n
	n.users = slices.Clone(n.users)
	n.successor = k.node(n.successor)
	return &n
}

func (k cloner) request(from *request) *request {
	r := *from
	r.queue, r.node = k.queues[from.queue], k.node(from.node)
	if r.wait != nil {
		w := *r.wait
		w.nodes = slices.Clone(w.nodes)
		r.wait = &w
	}
	return &r
}
