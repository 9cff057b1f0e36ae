package coordinator

import (
	"maps"
	"slices"
)

// Clone gives a coordinator that goes on by itself from the same state. Specs, views and what a purpose says are never
// changed, and shared. Package walk spends much of its time here: what is small lies side by side, and an empty map is not
// copied.
func (c *Coordinator) Clone() *Coordinator {
	var (
		next   = *c
		nodes  [8]twin[node]
		queues [2]twin[ownQueue]
		k      = cloner{nodes: nodes[:0], queues: queues[:0], room: make([]node, 0, len(c.requests))}
	)
	next.out, next.at = nil, At{}
	next.epoch = k.epoch(c.epoch)
	next.requests = make(map[RequestID]*request, len(c.requests))
	all := make([]request, 0, len(c.requests))
	for id, r := range c.requests {
		all = append(all, k.request(r))
		next.requests[id] = &all[len(all)-1]
	}
	return &next
}

// cloner knows what was cloned already. There are few nodes and queues where coordinators are cloned, so that looking
// through them takes less than a map would.
type cloner struct {
	nodes  []twin[node]
	queues []twin[ownQueue]
	room   []node
}

type twin[T any] struct{ from, to *T }

func twinOf[T any](all []twin[T], from *T) *T {
	for _, t := range all {
		if t.from == from {
			return t.to
		}
	}
	return nil
}

// copied gives a map with the same entries.
func copied[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return map[K]V{}
	}
	return maps.Clone(m)
}

func (k *cloner) epoch(e epoch) epoch {
	paths := e.paths
	e.paths = make(map[string]*lockPath, len(paths))
	for name, p := range paths {
		e.paths[name] = k.path(p)
	}
	e.unused, e.parked = slices.Clone(e.unused), slices.Clone(e.parked)
	e.asked, e.timers = copied(e.asked), copied(e.timers)
	e.batch.waiting = slices.Clone(e.batch.waiting)
	e.reads = reads{slices.Clone(e.reads.older), slices.Clone(e.reads.newer)}
	e.overRows = nil // nothing but within Apply
	return e
}

func (k *cloner) path(from *lockPath) *lockPath {
	p := *from
	p.probe.waiting = slices.Clone(p.probe.waiting)
	p.children = slices.Clone(p.children)
	if p.listing != nil {
		l := *p.listing
		l.waiting, l.late = slices.Clone(l.waiting), slices.Clone(l.late)
		p.listing = &l
	}
	p.watchers = copied(p.watchers)
	for name, all := range p.watchers {
		p.watchers[name] = slices.Clone(all)
	}
	p.queues = make([]*ownQueue, len(from.queues))
	for i, q := range from.queues {
		p.queues[i] = k.queue(q, &p)
	}
	return &p
}

func (k *cloner) queue(from *ownQueue, of *lockPath) *ownQueue {
	q := *from
	q.path = of
	q.nodes = make([]*node, len(from.nodes))
	for i, n := range from.nodes {
		q.nodes[i] = k.node(n)
	}
	q.members = slices.Clone(q.members)
	q.owners = copied(q.owners)
	for owner, all := range q.owners {
		q.owners[owner] = slices.Clone(all)
	}
	q.row.creates, q.row.deletes = slices.Clone(q.row.creates), slices.Clone(q.row.deletes)
	if q.retained != nil {
		kept := *q.retained
		q.retained = &kept
	}
	k.queues = append(k.queues, twin[ownQueue]{from, &q})
	return &q
}

func (k *cloner) node(from *node) *node {
	if from == nil {
		return nil
	}
	if n := twinOf(k.nodes, from); n != nil {
		return n
	}
	if len(k.room) == cap(k.room) {
		k.room = make([]node, 0, 4)
	}
	k.room = append(k.room, *from)
	n := &k.room[len(k.room)-1]
	k.nodes = append(k.nodes, twin[node]{from, n})
	n.users = slices.Clone(n.users)
	n.successor = k.node(n.successor)
	return n
}

func (k *cloner) request(from *request) request {
	r := *from
	r.queue, r.node = twinOf(k.queues, from.queue), k.node(from.node)
	if r.wait != nil {
		w := *r.wait
		w.nodes = slices.Clone(w.nodes)
		r.wait = &w
	}
	return r
}
