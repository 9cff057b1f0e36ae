package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// wait is what a request watches while it waits: its predecessor; as the first waiter of a semaphore, all who are before it,
// and the number of permits; or the whole lock path. It ends with the first that says that the queue is not what it was. Its
// operation tells it from earlier ones.
type wait struct {
	op uint64
	// nodes are those that keep the request out, by name; the empty name is the lock path itself. The first is its
	// predecessor, where it waits for one.
	nodes   []string
	all     bool   // it watches the list of children
	pending int    // reads under way
	ahead   string // the node before the predecessor, while that is watched too; see look_ahead.go
	remote  bool   // it is about a node of another session
}

// await begins to wait. Nodes are read rather than looked up: reading one that is gone leaves no watch behind. Watchers are
// registered before the query is sent, so that no event can come too early for them.
func (c *Coordinator) await(r *request, e machine.Effect) {
	c.endWait(r)
	r.wait = &wait{op: e.Op}
	r.kind.watch(c, r, e.Node)
}

// watchNode watches a predecessor. One of our own session needs no watch: the session hears of its end by itself.
func (c *Coordinator) watchNode(r *request, name string) {
	if r.queue.find(name) == nil {
		c.goRemote(r)
		c.lookAt(r, name, sameAs{})
		return
	}
	c.keep(r, name)
	c.tell(r, machine.Event{Kind: machine.Watched, Op: r.wait.op})
}

// keep registers that a request waits for a node.
func (c *Coordinator) keep(r *request, name string) {
	r.wait.nodes = append(r.wait.nodes, name)
	r.queue.path.watch(name, watcher{request: r.id, role: waits})
}

// sameAs is what must be so when a node is read, or else the queue is not what it was judged by.
type sameAs struct {
	permits   int  // the data are this number; zero where they do not matter
	unwritten bool // nobody has written to the node
}

// lookAt reads a node and watches it.
func (c *Coordinator) lookAt(r *request, name string, same sameAs) {
	c.keep(r, name)
	r.wait.pending++
	c.ask(&Watch{Path: r.queue.path.at(name)}, lookingAt{r.id, r.wait.op, name, same})
}

// lookingAt is what a Watch is for.
type lookingAt struct {
	request RequestID
	op      uint64
	name    string
	same    sameAs
}

func (p lookingAt) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Read)
	if r == nil || r.wait == nil || r.wait.op != p.op {
		return // an event came first, or it has gone on
	}
	same := true
	switch {
	case !a.Failure.none():
	case p.same.unwritten && a.Version > 0:
		r.view.written, same = p.name, false
	case p.same.permits > 0:
		permits, err := queue.ParsePermits(a.Data)
		same = err == nil && permits == p.same.permits
	}
	c.looked(r, p.name, a.Failure, same)
}

// watchChildren reads the whole queue and watches it: whatever changes in it, it is listed again.
func (c *Coordinator) watchChildren(r *request) {
	p := r.queue.path
	r.wait.all = true
	p.children = append(p.children, watcher{request: r.id, role: waits})
	r.wait.pending++
	c.ask(&WatchChildren{Path: p.path}, lookingAround{r.id, r.wait.op})
}

// lookingAround is what a WatchChildren is for.
type lookingAround struct {
	request RequestID
	op      uint64
}

func (p lookingAround) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Listed)
	if r == nil || r.wait == nil || r.wait.op != p.op {
		return
	}
	same := false
	if a.View.Failure.none() {
		place, shown := a.View.Queue.Find(r.node.name)
		same = shown && place.Before >= r.view.before
	}
	c.looked(r, "", a.View.Failure, same)
}

// looked takes the answer to a look at a node. same tells whether what was read is what the queue was judged by.
func (c *Coordinator) looked(r *request, name string, f Failure, same bool) {
	w := r.wait
	w.pending--
	switch {
	case f.none() && !same:
		c.wake(r, machine.Changed, Handoff{At: c.at.Moment})
	case f.is(NoNode):
		c.wake(r, r.without(name), Handoff{At: c.at.Moment})
	case f.none(), f.is(NoAuth):
		// What we may not read we get no event of: the slow re-list has to find out.
		if w.pending == 0 {
			c.tell(r, machine.Event{Kind: machine.Watched, Op: w.op})
		}
	default:
		c.endWait(r)
		c.tell(r, failed(w.op, f))
	}
}

// without tells what it means for a request that a node which it waits for is gone. When the predecessor was the head of the
// queue nobody is before the request any more; otherwise the predecessor may have given up from the middle.
func (r *request) without(name string) machine.Kind {
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

// stirred takes the news of a node that a request waits for.
func (c *Coordinator) stirred(p *lockPath, name string, w watcher, change Change, local bool) {
	r := c.requests[w.request]
	switch {
	case r == nil || r.wait == nil: // another who heard of it came first
	case w.role == looksAhead:
		if r.wait.ahead == name {
			c.listAhead(r)
		}
	case !r.wait.all && !slices.Contains(r.wait.nodes, name): // it has gone on
	case change == DataChanged && r.spec.Permits == 0:
		// Somebody asks the predecessor for the lock. The watch is spent: set it again.
		r.wait.nodes = r.wait.nodes[:0]
		p.drop(name, w)
		c.watchNode(r, name)
	case change == NodeDeleted:
		c.wake(r, r.without(name), Handoff{c.at.Moment, local})
	default:
		c.wake(r, machine.Changed, Handoff{c.at.Moment, local})
	}
}

// endWait forgets what a request watches while it waits.
func (c *Coordinator) endWait(r *request) {
	w, p := r.wait, r.queue.path
	if w == nil {
		return
	}
	r.wait = nil
	if w.remote {
		c.comeBack(r.queue)
	}
	for _, name := range w.nodes {
		p.drop(name, watcher{request: r.id, role: waits})
	}
	if w.ahead != "" {
		p.drop(w.ahead, watcher{request: r.id, role: looksAhead})
	}
	if w.all {
		p.children = without(p.children, watcher{request: r.id, role: waits})
	}
}
