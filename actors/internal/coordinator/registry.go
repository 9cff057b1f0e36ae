package coordinator

import "slices"

// knownPaths bounds the lock paths that are remembered though no request uses them.
const knownPaths = 4096

// pathOf finds a lock path, or makes it.
func (e *epoch) pathOf(path string) *lockPath {
	p := e.paths[path]
	if p == nil {
		p = &lockPath{path: path, watchers: map[string][]watcher{}}
		e.paths[path] = p
	}
	return p
}

// nodes lists all nodes of this session, with their lock paths.
func (e *epoch) nodes(yield func(*lockPath, *node) bool) {
	for _, p := range e.paths {
		for _, q := range p.queues {
			for _, n := range q.nodes {
				if !yield(p, n) {
					return
				}
			}
		}
	}
}

// leavePath notes that a request is gone. What is known of a path that is not in use is kept for a while. Of too many,
// one goes that was not used since it was last looked at.
func (e *epoch) leavePath(p *lockPath) {
	if p.requests--; p.requests > 0 || p.inUse() {
		return
	}
	p.usedAgain = true
	if len(p.queues) > 1 { // a program may name its queues anew each time
		p.queues = p.queues[:1:1]
	}
	if !p.idle {
		p.idle = true
		e.idle = append(e.idle, p.path)
	}
	for len(e.idle) > knownPaths {
		oldest := e.paths[e.idle[0]]
		e.idle = e.idle[1:]
		switch {
		case oldest.requests > 0 || oldest.inUse():
			oldest.idle = false
		case oldest.usedAgain:
			oldest.usedAgain = false
			e.idle = append(e.idle, oldest.path)
		default:
			delete(e.paths, oldest.path)
		}
	}
}

// Wanted tells whether there is a request that wants a lease: one that waits or holds, and was not given up.
func (c *Coordinator) Wanted() bool {
	for _, r := range c.requests {
		if r.life == active {
			return true
		}
	}
	return false
}

// Busy tells whether something of a request may be left at the servers, or come to be there.
func (c *Coordinator) Busy() bool { return len(c.requests) > 0 }

// reset makes a request one that has nothing in this epoch.
func (c *Coordinator) reset(r *request) {
	*r = request{id: r.id, spec: r.spec, kind: r.kind, life: r.life, gaveBack: r.gaveBack, inherited: r.inherited,
		sharing: sharing{holdOfOther: r.sharing.holdOfOther}, node: newNode(r.spec),
		pace: r.pace.inNextEpoch()}
	r.queue = c.epoch.pathOf(r.spec.Path).queueOf(r.spec)
	r.queue.path.requests++
}

// removeRequest removes a request of which nothing is left.
func (c *Coordinator) removeRequest(r *request) {
	if q := r.queue; r.spec.One != "" {
		q.members = slices.DeleteFunc(q.members, func(id RequestID) bool { return id == r.id })
	}
	delete(c.requests, r.id)
	c.epoch.leavePath(r.queue.path)
}
