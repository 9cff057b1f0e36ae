package coordinator

import (
	"maps"
	"slices"
)

// Clone gives a coordinator that goes on by itself from the same state. Specs, views and purposes
// are never changed, and shared. Package walk spends much of its time here: small values lie side
// by side, and empty maps are not copied.
func (c *Coordinator) Clone() *Coordinator {
	var (
		next   = *c
		nodes  [8]twin[node]
		queues [2]twin[ownQueue]
		k      = cloner{twins[node]{nodes[:0], make([]node, 0, len(c.requests))}, twins[ownQueue]{queues[:0], nil}}
		e      = &next.epoch
	)
	next.out, next.at = nil, At{}
	e.paths = make(map[string]*lockPath, len(c.epoch.paths))
	for name, p := range c.epoch.paths {
		e.paths[name] = k.path(p)
	}
	e.idle, e.parked = slices.Clone(e.idle), slices.Clone(e.parked)
	e.asked, e.timers = copied(e.asked), copied(e.timers)
	e.batch.waiting = slices.Clone(e.batch.waiting)
	e.load.shares = copied(e.load.shares)
	e.reads = reads{slices.Clone(e.reads.older), slices.Clone(e.reads.newer)}
	next.requests = make(map[RequestID]*request, len(c.requests))
	all := make([]request, 0, len(c.requests))
	for id, r := range c.requests {
		all = append(all, k.request(r))
		next.requests[id] = &all[len(all)-1]
	}
	return &next
}

// cloner has the copies of nodes and queues, to which several values refer.
type cloner struct {
	nodes  twins[node]
	queues twins[ownQueue]
}

type twin[T any] struct{ from, to *T }

// twins are few where coordinators are cloned, so that looking through them takes less than a map would.
type twins[T any] struct {
	all  []twin[T]
	room []T
}

// of gives the copy of a value, and whether it was made now, flat.
func (k *twins[T]) of(from *T) (to *T, isNew bool) {
	for _, t := range k.all {
		if t.from == from {
			return t.to, false
		}
	}
	if len(k.room) == cap(k.room) {
		k.room = make([]T, 0, 2)
	}
	k.room = append(k.room, *from)
	to = &k.room[len(k.room)-1]
	k.all = append(k.all, twin[T]{from, to})
	return to, true
}

func (k *cloner) path(from *lockPath) *lockPath {
	p := *from
	p.lookup.waiting = slices.Clone(p.lookup.waiting)
	if p.listing != nil {
		l := *p.listing
		l.after = slices.Clone(l.after)
		p.listing = &l
	}
	p.look.covered, p.look.joined, p.strays = slices.Clone(p.look.covered), slices.Clone(p.look.joined), slices.Clone(p.strays)
	p.watchers = copiedLists(p.watchers)
	p.queues = slices.Clone(p.queues)
	for i, q := range p.queues {
		p.queues[i] = k.queue(q, &p)
	}
	return &p
}

func (k *cloner) queue(from *ownQueue, of *lockPath) *ownQueue {
	q, _ := k.queues.of(from)
	q.path = of
	q.nodes = slices.Clone(q.nodes)
	for i, n := range q.nodes {
		q.nodes[i] = k.node(n)
	}
	q.burst.creates, q.burst.deletes = slices.Clone(q.burst.creates), slices.Clone(q.burst.deletes)
	return q
}

func (k *cloner) node(from *node) *node {
	if from == nil {
		return nil
	}
	n, isNew := k.nodes.of(from)
	if isNew {
		n.successor = k.node(n.successor)
	}
	return n
}

func (k *cloner) request(from *request) request {
	r := *from
	r.queue, _ = k.queues.of(from.queue)
	r.node = k.node(from.node)
	if r.pace != nil {
		p := *r.pace
		r.pace = &p
	}
	if r.wait != nil {
		w := *r.wait
		w.nodes = slices.Clone(w.nodes)
		r.wait = &w
	}
	return r
}

// copied gives a map with the same entries.
func copied[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return map[K]V{}
	}
	return maps.Clone(m)
}

func copiedLists[V any](m map[string][]V) map[string][]V {
	m = copied(m)
	for key, list := range m {
		m[key] = slices.Clone(list)
	}
	return m
}
