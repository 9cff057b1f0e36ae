package coordinator

import (
	"maps"
	"slices"
)

// Clone gives a coordinator that goes on by itself from the same state. Specs, views and purposes are never changed,
// and shared.
func (c *Coordinator) Clone() *Coordinator {
	var k cloner
	next := *c
	next.out, next.at = nil, At{}
	e := &next.epoch
	e.paths = make(map[string]*lockPath, len(c.epoch.paths))
	for name, p := range c.epoch.paths {
		e.paths[name] = k.path(p)
	}
	e.idle, e.parked = slices.Clone(e.idle), slices.Clone(e.parked)
	e.asked, e.timers = maps.Clone(e.asked), maps.Clone(e.timers)
	e.batch.waiting = slices.Clone(e.batch.waiting)
	e.reads = reads{slices.Clone(e.reads.older), slices.Clone(e.reads.newer)}
	next.requests = make(map[RequestID]*request, len(c.requests))
	for id, r := range c.requests {
		next.requests[id] = k.request(r)
	}
	return &next
}

// cloner has the copies of what several refer to.
type cloner struct {
	nodes  copies[node]
	queues copies[ownQueue]
}

// copies are few where speed matters: package walk clones at every step.
type copies[T any] []struct{ from, to *T }

// of gives the copy of a value, and whether it was made now: as the value is, which may refer to what is to be copied
// too.
func (all *copies[T]) of(from *T) (to *T, isNew bool) {
	for _, c := range *all {
		if c.from == from {
			return c.to, false
		}
	}
	made := *from
	*all = append(*all, struct{ from, to *T }{from, &made})
	return &made, true
}

func (k *cloner) path(from *lockPath) *lockPath {
	p := *from
	p.probe.waiting, p.children = slices.Clone(p.probe.waiting), slices.Clone(p.children)
	if p.listing != nil {
		l := *p.listing
		l.after = slices.Clone(l.after)
		p.listing = &l
	}
	p.watchers = cloneLists(p.watchers)
	p.queues = slices.Clone(p.queues)
	for i, q := range p.queues {
		p.queues[i] = k.queue(q, &p)
	}
	return &p
}

func (k *cloner) queue(from *ownQueue, of *lockPath) *ownQueue {
	q, _ := k.queues.of(from)
	q.path = of
	q.nodes, q.members, q.owners = slices.Clone(q.nodes), slices.Clone(q.members), cloneLists(q.owners)
	for i, n := range q.nodes {
		q.nodes[i] = k.node(n)
	}
	q.run.creates, q.run.deletes = slices.Clone(q.run.creates), slices.Clone(q.run.deletes)
	if q.retained != nil {
		kept := *q.retained
		q.retained = &kept
	}
	return q
}

func (k *cloner) node(from *node) *node {
	if from == nil {
		return nil
	}
	n, isNew := k.nodes.of(from)
	if isNew {
		n.users = slices.Clone(n.users)
		n.successor = k.node(n.successor)
	}
	return n
}

func (k *cloner) request(from *request) *request {
	r := *from
	r.queue, _ = k.queues.of(from.queue)
	r.node = k.node(from.node)
	if r.wait != nil {
		w := *r.wait
		w.nodes = slices.Clone(w.nodes)
		r.wait = &w
	}
	return &r
}

func cloneLists[K comparable, T any](all map[K][]T) map[K][]T {
	next := make(map[K][]T, len(all))
	for key, list := range all {
		next[key] = slices.Clone(list)
	}
	return next
}
