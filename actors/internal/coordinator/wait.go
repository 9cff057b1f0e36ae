package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Waits. Nodes are read rather than looked up: reading one that is gone leaves no watch behind. Watchers are registered
// before the query is sent, so that no event comes too early for them and no wake-up is lost (lost wake-up).
// Each waits for one node, so that a release wakes one of them, and no thundering herd. The first waiter of a semaphore
// waits for all nodes before it.

// waitFor registers that a request waits for a node.
func (c *Coordinator) waitFor(r *request, name string) {
	r.wait.nodes = append(r.wait.nodes, name)
	r.queue.path.watch(name, watcher{request: r.id, role: awaitsNode})
}

// watchPredecessor watches the predecessor. One of our own session needs no watch: the session hears of its end by
// itself.
func (c *Coordinator) watchPredecessor(r *request, name string) {
	n := r.queue.find(name)
	if n == nil {
		c.waitRemotely(r)
		c.watchNode(r, name, expect{})
		return
	}
	c.waitFor(r, name)
	c.tellWaits(r, &Predecessor{Node: name, Spec: c.requests[n.of].spec, Token: n.token})
}

// tellWaits tells a request that its predecessor is there.
func (c *Coordinator) tellWaits(r *request, predecessor *Predecessor) {
	if r.life != ended {
		c.emit(&Tell{To: r.id, Predecessor: predecessor, Event: machine.Event{Kind: machine.Watched, Op: r.wait.op}})
	}
}

// watchNode reads a node that a request waits for, and watches it.
func (c *Coordinator) watchNode(r *request, name string, same expect) {
	c.waitFor(r, name)
	r.wait.pending++
	c.ask(&Watch{Path: r.queue.path.at(name)}, watchSet{ofWait{operation{r.id, r.wait.op}}, name, same})
}

// watchChildren lists the lock path and watches it: after any change the queue is listed again.
func (c *Coordinator) watchChildren(r *request) {
	p := r.queue.path
	r.wait.children = true
	p.watch(children, watcher{request: r.id, role: awaitsNode})
	r.wait.pending++
	c.ask(&WatchChildren{Path: p.path}, watchSet{ofWait: ofWait{operation{r.id, r.wait.op}}})
}

// expect holds what the read of a node must confirm. If it does not, the queue has changed since
// the listing.
type expect struct {
	permits   int  // the data are this number; zero where they do not matter
	unwritten bool // nobody has written to the node
}

// watchSet is the purpose of a Watch, or a WatchChildren.
type watchSet struct {
	ofWait
	name string
	same expect
}

func (p watchSet) answered(c *Coordinator, _ uint64, answer Answer) {
	r := c.requests[p.request]
	w, same, predecessor := r.wait, true, &Predecessor{Node: p.name}
	var f Failure
	switch a := answer.(type) {
	case *Read:
		predecessor.Data, predecessor.Czxid, predecessor.Session, predecessor.Unread = a.Data, a.Czxid, a.Session, a.Failure.is(NoAuth)
		switch f = a.Failure; {
		case !f.none():
		case p.same.unwritten && a.Version > 0:
			r.view.written, same = p.name, false
		case p.same.permits > 0:
			permits, err := queue.ParsePermits(a.Data)
			same = err == nil && permits == p.same.permits
		}
	case *Listed:
		if f = a.View.Failure; f.none() {
			position, shown := a.View.Queue.Find(r.node.name)
			same = shown && position.Before >= r.view.before
		}
	}
	w.pending--
	if p.name != "" && p.name == w.nearest() {
		w.predecessor = predecessor
	}
	switch {
	case f.none() && !same:
		c.wake(r, machine.Changed, Handoff{At: c.at.Moment})
	case f.is(NoNode):
		c.wake(r, r.wakeKind(p.name), Handoff{At: c.at.Moment})
	case f.none(), f.is(NoAuth):
		// No event comes of a node that the session may not READ: the slow re-list has to find out.
		w.unread = w.unread || f.is(NoAuth)
		if w.pending == 0 {
			predecessor, w.predecessor = w.predecessor, nil
			c.tellWaits(r, predecessor) // nil where it watches the children: the listing has told as much
		}
	default:
		c.endWait(r)
		c.tell(r, failed(w.op, f))
	}
}

// wakeKind gives the event for a request when a node that it waits for is gone. When the predecessor was the head
// of the queue nobody is before the request any more; otherwise the predecessor may have given up from the middle.
func (r *request) wakeKind(name string) machine.Kind {
	switch nodes := r.wait.nodes; {
	case len(nodes) != 1 || nodes[0] != name: // the first waiter of a semaphore, or one that watches the whole queue
		return machine.Changed
	case r.view.head == name:
		return machine.TurnCame
	default:
		return machine.PredecessorGone
	}
}

// wake ends a wait.
func (c *Coordinator) wake(r *request, why machine.Kind, handoff Handoff) {
	w := r.wait
	if len(w.nodes) > 0 && r.spec.Permits == 0 {
		r.view.departed = w.nodes[0]
	}
	c.endWait(r)
	if r.life != ended {
		c.emit(&Tell{To: r.id, Event: machine.Event{Kind: why, Op: w.op}, Handoff: handoff})
	}
}

// waitChanged takes the event of a node that a request waits for. local: the session knows by itself, because the node
// was its own.
func (c *Coordinator) waitChanged(r *request, name string, change Change, local bool) {
	switch {
	case r == nil || r.wait == nil: // another watcher of the same event came first
	case r.ahead.watches(name):
		c.listAhead(r)
	case !r.wait.children && !slices.Contains(r.wait.nodes, name): // it has gone on
	case change == DataChanged && r.spec.Permits == 0:
		// Somebody asks the predecessor for the lock. The watch is spent: set it again.
		r.wait.nodes = r.wait.nodes[:0]
		r.queue.path.unwatch(name, watcher{request: r.id, role: awaitsNode})
		c.watchPredecessor(r, name)
	case change == NodeDeleted:
		c.wake(r, r.wakeKind(name), Handoff{c.at.Moment, local})
	default:
		c.wake(r, machine.Changed, Handoff{c.at.Moment, local})
	}
}

// endWait ends the wait of a request, with its watchers.
func (c *Coordinator) endWait(r *request) {
	w, p := r.wait, r.queue.path
	if w == nil {
		return
	}
	r.wait = nil
	if w.remote {
		c.endRemoteWait(r.queue)
	}
	for _, name := range w.nodes {
		p.unwatch(name, watcher{request: r.id, role: awaitsNode})
	}
	r.ahead.end(r)
	if w.children {
		p.unwatch(children, watcher{request: r.id, role: awaitsNode})
	}
}

// unwatchOwn drops the watch on a request's own node.
func (c *Coordinator) unwatchOwn(r *request) {
	if r.own.phase == watched {
		r.queue.path.unwatch(r.node.name, watcher{request: r.id, role: holds})
	}
	r.own.phase = unwatched
}

// unwatchContention ends the watch for other contenders.
func (c *Coordinator) unwatchContention(r *request) {
	if p, w := r.queue.path, (watcher{r.id, attends}); r.asks.contention != 0 {
		p.unwatch(r.node.name, w)
		p.unwatch(children, w)
		r.asks.contention = 0
	}
}

// endAsks ends all that the owner of a hold has asked for.
func (c *Coordinator) endAsks(r *request) {
	c.unwatchContention(r)
	r.asks = holderAsks{}
}
