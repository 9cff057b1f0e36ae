package coordinator

// Look-ahead. A request that waits for a node of another session that waits itself would have to list the queue again
// when that node is gone, to know whether it is first: a round trip within the hand-off. Instead it watches the one
// before its predecessor as well. When that is gone the predecessor probably holds; the queue is listed then, while it
// does, and the grant needs nothing but the event.
//
// It costs one read for each waiter, and wakes one session more with each release, whatever the length of the queue:
// the machine hears nothing of it. It does not pay where the predecessor is of the same session, which hands over.

// lookAhead watches the one before the predecessor.
func (c *Coordinator) lookAhead(r *request, predecessor string) {
	w, before := r.wait, r.view.lookAhead
	if w == nil || before == "" || !r.spec.exclusive() || r.queue.find(predecessor) != nil || !c.fast(LookAhead) {
		return
	}
	r.view.lookAhead = ""
	w.lookAhead = before
	r.queue.path.watch(before, watcher{request: r.id, role: looksAhead})
	if r.queue.find(before) == nil { // of our own session's the session hears by itself
		c.ask(&Watch{Path: r.queue.path.at(before)}, aheadWatchSet{ofWait{operation{r.id, w.op}}, before})
	}
}

// aheadWatchSet is what the Watch of the one before the predecessor is for.
type aheadWatchSet struct {
	ofWait
	name string
}

func (p aheadWatchSet) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Read)
	if a.Failure.none() && a.Ours {
		c.removeUnowned(r, p.name, a.Czxid)
	}
	if r.wait.lookAhead == p.name && a.Failure.is(NoNode) {
		c.listAhead(r) // of other failures the predecessor's own watch will hear
	}
}

// listAhead lists the queue for a request that still waits.
func (c *Coordinator) listAhead(r *request) {
	r.queue.path.unwatch(r.wait.lookAhead, watcher{request: r.id, role: looksAhead})
	r.wait.lookAhead = ""
	if c.epoch.connection == connected {
		c.listFor(r.queue.path, lister{operation: operation{r.id, r.wait.op}, lookAhead: true})
	}
}

// lookedAhead takes the listing. When the one before had given up, and others are before the predecessor still, the
// last of them is watched in its place.
func (c *Coordinator) lookedAhead(r *request, op uint64, found *View) {
	if !r.waitsIn(op) || !found.Failure.none() {
		return
	}
	position, shown := found.Queue.Find(r.node.name)
	if w := r.wait; !shown || len(w.nodes) == 0 || w.nodes[0] != position.Predecessor {
		return // the predecessor is gone, and the event on its way
	}
	r.kind.stands(r, position, 0)
	if !position.Head {
		c.lookAhead(r, position.Predecessor)
	}
}

// hearOfOther takes the news of a node that keeps a request out, or is before that. local tells whether they are the
// session's own.
func (c *Coordinator) hearOfOther(w watcher, name string, change Change, local bool) {
	switch r := c.requests[w.request]; {
	case r == nil || r.wait == nil: // another who heard of it came first
	case w.role == waits:
		c.stirred(r, name, change, local)
	case r.wait.lookAhead == name:
		c.listAhead(r)
	}
}
