package coordinator

import "github.com/turnstile-locks/turnstile/actors/machine"

// Retained nodes: the node of a lock that was given back may stay for a while, and is used again by
// the next request of this session. Nobody else can hold meanwhile, because it is the first of the
// queue. A watch on the lock path tells when somebody comes, and a watch on the node when somebody
// wants the lock back; then the node goes at once, or as soon as it is given back. A node with a
// revoke request already goes with its hold: the revoke request was for that hold. How a node is
// reused is below.
//
// Each grant needs a token of its own, greater than the last and less than that of any node made
// later. The places after the node's own in its transaction serve for that: their nodes queued
// behind it and are gone, so these tokens are unused and stay so.

// retain keeps the node of a lock that is given back.
func (c *Coordinator) retain(r *request) {
	n, q := r.node, r.queue
	c.setHeld(r, false)
	c.unwatchOwn(r)
	r.search = search{} // a search under way may find the node when another request has it
	c.setPhase(q, n, retained)
	c.epoch.retained++
	c.numbers++
	q.retained = &retention{request: r.id, number: c.numbers}
	c.endLater(q)
	r.asks = holderAsks{}
	if n.arrivals == arrivalsUnwatched {
		c.watchArrivals(q, n)
	}
}

// watchArrivals lists the queue of a node, and watches it and the node.
func (c *Coordinator) watchArrivals(q *ownQueue, n *node) {
	n.arrivals = arrivalsWatched
	w := watcher{role: retains, node: n.name}
	q.path.watch(n.name, w)
	q.path.children = append(q.path.children, w)
	c.ask(&WatchRetained{Path: q.path.path, Node: n.name}, arrivalsRead{path: q.path.path, node: n.name})
}

// endLater starts the timer that drops the node.
func (c *Coordinator) endLater(q *ownQueue) {
	kept := c.requests[q.retained.request]
	q.retained.timer = c.after(kept.spec.Want.Sticky, timer{kind: RetentionTimer, operation: operation{request: kept.id}})
}

// retentionOver drops a node that was retained for long enough.
func (c *Coordinator) retentionOver(t timer) {
	if r := c.requests[t.request]; r != nil && r.retains() {
		r.queue.retained.timer = 0
		if r.queue.retained.next == 0 { // else it is about to be used again
			c.dropRetained(r.queue)
		}
	}
}

// arrivalsRead is the purpose of a WatchRetained. Its answer is taken in contention.go.
type arrivalsRead struct {
	neverStale
	path, node string
}

// arrived takes note that another contender may have come. The node is dropped, unless a request is
// about to reuse it: the others are behind it. A spent node is dropped in any case: it is gone, or
// has a revoke request.
func (c *Coordinator) arrived(p *lockPath, name string, spent bool) {
	q, n := p.findNode(name)
	if n == nil || n.arrivals == arrivalsUnwatched {
		return
	}
	n.arrivals = othersCame
	if n.phase == retained && (spent || q.retained.next == 0) {
		c.dropRetained(q)
	}
}

// dropRetained has the retained node of a queue deleted. The request that was to reuse it makes its own.
func (c *Coordinator) dropRetained(q *ownQueue) {
	kept := *q.retained
	q.retained = nil
	c.stop(kept.timer)
	c.epoch.retained--
	r := c.requests[kept.request]
	c.setPhase(q, r.node, present)
	q.ignoreArrivals(r.node)
	c.cleanUp(r)
	if next := c.requests[kept.next]; next != nil {
		next.sharing.waitingCreate = kept.op
		c.createAgain(next.id)
	}
}

// dropAllRetained drops all retained nodes, because the watches that would tell of other contenders are
// lost with the connection. A request that was to reuse one recovers, and asks again.
func (c *Coordinator) dropAllRetained() {
	for _, r := range c.inOrder() {
		if r.retains() {
			r.queue.retained.next = 0
			c.dropRetained(r.queue)
		}
		r.node.arrivals, r.asks = arrivalsUnwatched, holderAsks{}
	}
}

// How a retained node is reused. A session that has not heard that the node is gone does not know
// that it exists: an operator may have deleted it, and somebody else may hold, with a greater
// token. The event of that may be on its way, and a server that is cut off never sends one. So the
// session has the ensemble commit a transaction that checks the node, sent after the request came,
// and grants the lock when the transaction succeeds. While the node exists nobody behind it is
// granted the lock; a contender that is granted it later has a greater token.
//
// This costs one round trip, as a create does, and saves the delete. A sync would be cheaper for
// the servers and prove nothing: a leader that is cut off answers it.
//
// When the check does not succeed, because the node is gone or its outcome is unknown, the session
// deletes the node, which may still exist, and the request makes its own.

// checkRetained has a request go on with the retained node of its queue, if that exists.
func (c *Coordinator) checkRetained(r *request, op uint64) {
	q := r.queue
	q.retained.next, q.retained.op = r.id, op
	kept := c.requests[q.retained.request]
	c.ask(&Check{Path: q.path.at(kept.node.name)}, reuseCheck{kept: kept.id, next: r.id, path: q.path.path, node: kept.node.name})
}

// reuseCheck is the purpose of the Check of a retained node.
type reuseCheck struct {
	neverStale
	kept, next RequestID
	path, node string
}

func (p reuseCheck) answered(c *Coordinator, _ uint64, answer Answer) {
	f := answer.(*Ack).Failure
	q, n := c.epoch.paths[p.path].findNode(p.node)
	if n == nil || n.phase != retained || q.retained.request != p.kept {
		return
	}
	switch {
	case q.retained.next != p.next: // the request was withdrawn, or has made a node of its own meanwhile
		if f.is(NoNode) {
			c.dropRetained(q)
		}
	case f.none() || f.is(NoAuth): // NoAuth: the node exists, and may not be read
		c.pass(q)
	default:
		c.dropRetained(q)
	}
}

// pass gives a retained node to the request that is to reuse it.
func (c *Coordinator) pass(q *ownQueue) {
	kept, r, op := c.requests[q.retained.request], c.requests[q.retained.next], q.retained.op
	n := kept.node
	token := n.nextToken()
	c.stop(q.retained.timer)
	q.retained = nil
	c.epoch.retained--
	kept.node = &node{phase: leftToOthers}
	n.token, n.place, n.batchMates, n.users = token, token.Place(), false, []RequestID{r.id}
	c.setPhase(q, n, present)
	r.node = n
	if n.says.of == kept.id { // its data describe this request as well
		n.says.of = r.id
	}
	c.checkDescription(n)
	r.lead()
	if kept.life == ended {
		c.removeRequest(kept)
	}
	c.beat()
	c.emit(&Tell{To: r.id, As: n.by,
		Event: machine.Event{Kind: machine.Seated, Op: op, Node: n.name, Token: token}})
}

// declineReuse cancels the reuse of a retained node by a request. The node stays for the next
// request, unless other contenders have come or requests wait in the cohort. It gives false where
// the request was not to reuse it.
func (c *Coordinator) declineReuse(r *request) bool {
	q := r.queue
	if q.retained == nil || q.retained.next != r.id {
		return false
	}
	q.retained.next = 0
	kept := c.requests[q.retained.request]
	switch {
	case kept.node.arrivals == othersCame || len(q.cohort.line) > 0:
		c.dropRetained(q)
	case q.retained.timer == 0:
		c.endLater(q)
	}
	return true
}
