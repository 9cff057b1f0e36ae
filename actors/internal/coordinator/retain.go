package coordinator

// Retained nodes: the node of a lock that was given back may stay for a while, and is used again by the next request of
// this session. Nobody else can hold meanwhile, because it is the first of the queue. A watch on the lock path tells
// when somebody comes, and one on the node when somebody wants the lock back; then the node goes at once, or as soon as
// it is given back. A node that says so already goes with its hold: the next request was not asked. How a node is
// reused is in reuse.go.
//
// Each grant needs a token of its own, greater than the last and less than that of any node made later. The places that
// come after its own in the node's transaction will do: their nodes came behind it in the queue, and as nobody is there
// now they have never been held with and never will.

// retain keeps the node of a lock that is given back.
func (c *Coordinator) retain(r *request) {
	n, q := r.node, r.queue
	c.setHeld(r, false)
	c.unwatchOwn(r)
	r.search = search{} // what is still under way may find the node when another has it
	c.setPhase(q, n, retained)
	c.epoch.retained++
	c.numbers++
	q.retained = &retention{request: r.id, number: c.numbers}
	c.endLater(q)
	if n.arrivals == arrivalsUnwatched {
		n.arrivals = arrivalsWatched
		w := watcher{role: retains, node: n.name}
		q.path.watch(n.name, w)
		q.path.children = append(q.path.children, w)
		c.ask(&WatchRetained{Path: q.path.path, Node: n.name}, arrivalsRead{q.path.path, n.name})
	}
}

// endLater starts the timer that lets the node go.
func (c *Coordinator) endLater(q *ownQueue) {
	kept := c.requests[q.retained.request]
	q.retained.timer = c.after(kept.spec.Want.Sticky, timer{kind: RetentionTimer, operation: operation{request: kept.id}})
}

// retentionOver lets a node go that was retained for long enough.
func (c *Coordinator) retentionOver(t timer) {
	if r := c.requests[t.request]; r != nil && r.retains() {
		r.queue.retained.timer = 0
		if r.queue.retained.next == 0 { // else it is about to be used again
			c.release(r.queue)
		}
	}
}

// arrivalsRead is what a WatchRetained is for.
type arrivalsRead struct{ path, node string }

func (p arrivalsRead) answered(c *Coordinator, _ uint64, answer Answer) {
	if a := answer.(*Arrivals); !a.Alone || a.Spent {
		c.arrived(c.epoch.paths[p.path], p.node, a.Spent)
	}
}

// arrived takes note that somebody may want the lock. Whoever has come is behind the node, which is reused once more
// when a request is about to; unless it is spent: it is gone, or says that the lock is wanted back.
func (c *Coordinator) arrived(p *lockPath, name string, spent bool) {
	q, n := p.findNode(name)
	if n == nil || n.arrivals == arrivalsUnwatched {
		return
	}
	n.arrivals = othersCame
	if n.phase == retained && (spent || q.retained.next == 0) {
		c.release(q)
	}
}

// release lets the retained node of a queue go. The request that was to reuse it makes a node of its own.
func (c *Coordinator) release(q *ownQueue) {
	kept := *q.retained
	q.retained = nil
	c.stop(kept.timer)
	c.epoch.retained--
	r := c.requests[kept.request]
	c.setPhase(q, r.node, present)
	q.ignoreArrivals(r.node)
	c.cleanUp(r)
	if next := c.requests[kept.next]; next != nil {
		next.sharing.waits = kept.op
		c.createAgain(next.id)
	}
}

// releaseAll lets all retained nodes go, because what would tell of others who want the locks is lost with the
// connection. A request that was to reuse one recovers, and asks again.
func (c *Coordinator) releaseAll() {
	for _, r := range c.inOrder() {
		if r.retains() {
			r.queue.retained.next = 0
			c.release(r.queue)
		}
		r.node.arrivals = arrivalsUnwatched
	}
}
