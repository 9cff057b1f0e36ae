package coordinator

import "github.com/turnstile-locks/turnstile/actors/machine"

// What a holder asks for besides: to be told when another contender is in its queue, and to have its
// node checked. So whoever shares a hold (see messages.Held.Places) may keep it while nobody else
// wants the lock, and knows before each further grant that its node is there.
//
// Both end with the connection: the watches are gone, and the answers on their way say nothing of the
// next. The machine was told so, and its owner asks anew after Resumed.

// attend carries out what the owner of a hold asks for besides. While the connection is down it is
// void: the machine was told, or is about to be. It does not wait behind orders that are put off.
func (c *Coordinator) attend(r *request, do machine.Do) {
	switch {
	case !c.epoch.connected || !r.held || r.node.phase != present:
	case do == machine.CheckOwn:
		c.checkHold(r)
	case r.spec.exclusive():
		c.watchContention(r)
	}
}

// watchContention has the owner of an exclusive hold told once a listing has shown another contender.
func (c *Coordinator) watchContention(r *request) {
	r.asks.contention = true
	if n := r.node; n.arrivals != arrivalsWatched { // else nobody has come since a retained node was watched, or the answer is due
		c.watchAgain(r.queue, n)
	}
}

// watchAgain lists the queue of a node, and watches both.
func (c *Coordinator) watchAgain(q *ownQueue, n *node) {
	q.ignoreArrivals(n)
	c.watchArrivals(q, n)
}

// queueChanged takes an event of the watch for other contenders. Where an owner is to be told of them,
// only a listing says whether there are any: the change may be of another queue of the lock path.
func (c *Coordinator) queueChanged(p *lockPath, name string, change Change) {
	if q, n := p.findNode(name); n != nil && len(c.askedContention(n)) > 0 {
		c.watchAgain(q, n)
		return
	}
	c.arrived(p, name, change != ChildrenChanged)
}

// askedContention lists the requests that hold with a node and are to be told of contenders.
func (c *Coordinator) askedContention(n *node) (all []*request) {
	for _, id := range n.users {
		if r := c.requests[id]; r != nil && r.asks.contention {
			all = append(all, r)
		}
	}
	return all
}

func (p arrivalsRead) answered(c *Coordinator, _ uint64, answer Answer) {
	a := answer.(*Arrivals)
	if a.Alone && !a.Spent {
		return
	}
	path := c.epoch.paths[p.path]
	c.arrived(path, p.node, a.Spent)
	if _, n := path.findNode(p.node); n != nil {
		for _, r := range c.askedContention(n) {
			r.asks.contention = false
			c.tell(r, machine.Event{Kind: machine.Contended})
		}
	}
}

// checkHold has a committed transaction check the node of a holder.
func (c *Coordinator) checkHold(r *request) {
	r.asks.check = c.ask(&Check{Path: r.queue.path.at(r.node.name)}, holdCheck{r.id})
}

// holdCheck is the purpose of a Check that an owner has asked for.
type holdCheck struct{ request RequestID }

// stale: it has asked anew, or has not the hold any more, or the connection was lost.
func (p holdCheck) stale(c *Coordinator, id uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.asks.check != id
}

func (p holdCheck) answered(c *Coordinator, _ uint64, answer Answer) {
	r, f := c.requests[p.request], answer.failure()
	r.asks.check = 0
	switch {
	case f.none() || f.is(NoAuth): // NoAuth: the node exists, and may not be read
		c.tell(r, machine.Event{Kind: machine.Checked})
	case f.is(NoNode):
		c.missing(r.queue, r.node)
	default: // as if a heartbeat had no answer
		c.tell(r, machine.Event{Kind: machine.Silent})
	}
}
