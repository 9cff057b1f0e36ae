package coordinator

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// request is one lock request. It outlives epochs; what belongs to one is in what reset replaces.
type request struct {
	id   RequestID
	spec *Spec
	kind kind
	life life

	queue   *ownQueue // of this epoch
	node    *node     // its own, or that of the hold that it shares; never nil
	held    bool      // the machine has said that the lock is granted
	wait    *wait     // what it watches while it waits; nil while it does not
	view    standing
	own     ownWatch
	looking looking
	removal removal
	sharing sharing
	// inherited is the token of the writer's hold that it goes on with, in a downgrade; zero for others.
	inherited messages.Token
	// early is the queue as it was listed behind its create.
	early *View
	// gaveBack is when its lock actor asked to give the lock back.
	gaveBack Moment
}

// life is how far a request has come, as its lock actor says.
type life uint8

const (
	active life = iota
	// ending: it was given up, or given back. Its owner may ask anew.
	ending
	// ended: nothing comes from its lock actor any more, which is told nothing. What is left of it is to be removed.
	ended
)

// standing is where the newest listing showed a request.
type standing struct {
	// before is how many it had to wait for; head is its predecessor, where that was the head of the queue; second is the one
	// before its predecessor; departed is the predecessor that went last.
	before                 int
	head, second, departed string
	// front are the nodes that a semaphore's waiter is to watch, ahead all who were before it, permits how many there were.
	front, ahead []string
	permits      int
	// written is the node before a semaphore's waiter, when that was written to.
	written string
}

// order carries out an order, or keeps it until there is a connection.
func (c *Coordinator) order(o *Order) {
	if o.Epoch != 0 && o.Epoch != c.epoch.number {
		c.stale++
		return
	}
	r := c.enlist(o.Request, o.Spec)
	if r.life == ended { // its end overtook this order
		return
	}
	r.gaveBack = o.Moment
	if o.Ending { // its owner may ask anew, also while the order waits: that request queues behind what may be left
		r.life = ending
		c.disown(r)
	}
	switch o.Do {
	case machine.Withdraw:
		c.withdraw(r, o.Op)
	case machine.CleanUp:
		c.cleanUp(r)
	default:
		if c.epoch.connection != connected {
			c.park(r, o.Effect)
			return
		}
		c.carryOut(r, o.Effect)
	}
}

func (c *Coordinator) carryOut(r *request, e machine.Effect) {
	switch e.Do {
	case machine.Create:
		c.create(r, e.Op)
	case machine.List:
		r.kind.list(c, r, e.Op)
	case machine.Watch:
		c.await(r, e)
	case machine.WatchOwn:
		if !r.node.exists() { // it was deleted since it was made: the request has been told, and holds no more
			c.tell(r, machine.Event{Kind: machine.NodeGone, Op: e.Op})
			return
		}
		c.granted(r)
		c.watchOwn(r, e.Op)
	case machine.Verify:
		c.verify(r, e.Op)
	case machine.Delete, machine.GiveBack:
		c.giveUp(r, e)
	default:
		c.emit(&Note{What: NoRequest, Path: r.spec.Path, Node: r.node.name, Detail: e.String()})
	}
}

// enlist finds a request, or makes it.
func (c *Coordinator) enlist(id RequestID, spec *Spec) *request {
	r := c.requests[id]
	if r == nil {
		r = &request{id: id, spec: spec, kind: kindOf(spec)}
		c.requests[id] = r
		c.reset(r)
	}
	return r
}

// reset makes a request one that has nothing in this epoch.
func (c *Coordinator) reset(r *request) {
	*r = request{id: r.id, spec: r.spec, kind: r.kind, life: r.life, gaveBack: r.gaveBack, inherited: r.inherited,
		sharing: sharing{under: r.sharing.under}, node: &node{guid: r.spec.GUID, by: r.spec.By}}
	r.queue = c.epoch.pathOf(r.spec.Path).queueOf(r.spec)
	r.queue.path.requests++
}

// abandon takes note that a lock actor has ended.
func (c *Coordinator) abandon(id RequestID) {
	r := c.requests[id]
	if r == nil || r.life == ended {
		return
	}
	r.life = ended
	c.decline(r)
	c.disown(r)
	c.unpark(r)
	c.unwatch(r)
	c.cleanUp(r)
}

// forget removes a request of which nothing is left.
func (c *Coordinator) forget(r *request) {
	if q := r.queue; r.spec.One != "" {
		q.members = slices.DeleteFunc(q.members, func(id RequestID) bool { return id == r.id })
	}
	delete(c.requests, r.id)
	c.epoch.leavePath(r.queue.path)
}

// inOrder lists the requests in the order in which they came, so that what is sent follows from what was asked for, and
// not from the order of a map.
func (c *Coordinator) inOrder() []*request {
	all := make([]*request, 0, len(c.requests))
	for _, r := range c.requests {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *request) int { return cmp.Compare(a.id, b.id) })
	return all
}

// tell sends an event to a request, unless it has ended.
func (c *Coordinator) tell(r *request, ev machine.Event) {
	if r.life != ended {
		c.send(r.id, ev)
	}
}

func (c *Coordinator) send(to RequestID, ev machine.Event) { c.emit(&Tell{To: to, Event: ev}) }

// tellAll sends an event to all requests that have not ended.
func (c *Coordinator) tellAll(ev machine.Event) {
	for _, r := range c.inOrder() {
		c.tell(r, ev)
	}
}

// parked is an order that waits for the connection.
type parked struct {
	request RequestID
	effect  machine.Effect
}

// park keeps an order until there is a connection.
func (c *Coordinator) park(r *request, e machine.Effect) {
	c.epoch.parked = append(c.epoch.parked, parked{r.id, e})
}

// unpark drops the orders of a request that wait; it tells whether there was a create.
func (c *Coordinator) unpark(r *request) (creates bool) {
	c.epoch.parked = slices.DeleteFunc(c.epoch.parked, func(p parked) bool {
		creates = creates || p.request == r.id && p.effect.Do == machine.Create
		return p.request == r.id
	})
	return creates
}

// reason translates a refusal.
func reason(f Failure) messages.Reason {
	if f.is(NoAuth) {
		return messages.ReasonNoAuth
	}
	return messages.ReasonRefused
}

// failed is the event for an operation that has failed, where nothing more is to be said.
func failed(op uint64, f Failure) machine.Event {
	if f.Outcome == Refused {
		return machine.Event{Kind: machine.Refused, Op: op, Reason: reason(f), Detail: f.Detail}
	}
	return machine.Event{Kind: machine.Unknown, Op: op, Detail: f.Detail}
}
