package coordinator

import "github.com/turnstile-locks/turnstile/actors/machine"

// What a holder asks for besides: to be told when another contender is in its queue, and to have its node checked. So
// whoever shares a hold (messages.Held.Places) may keep it while nobody else wants the lock, and knows before each further
// grant that its node is there. Both end with the connection, and its owner asks anew after Resumed.

// attend carries out what the owner of a hold asks for besides. While the connection is down it is void. It does not wait
// behind orders that are put off.
func (c *Coordinator) attend(r *request, do machine.Do) {
	switch {
	case !c.epoch.connected || !r.held || r.node.phase != present:
	case do == machine.CheckOwn:
		r.asks.check = c.ask(&Check{Path: r.queue.path.at(r.node.name)}, holdCheck{r.id})
	case !r.spec.exclusive() || r.asks.contention != 0: // a watch stands, or the answer is due
	case r.pace != nil && r.pace.isSuspect() && r.pace.do == do: // its owner asks anew on each connection
		c.tell(r, machine.Event{Kind: machine.Contended})
	default:
		c.watchContention(r)
	}
}

func (c *Coordinator) watchContention(r *request) {
	c.unwatchContention(r)
	w, p := watcher{r.id, attends}, r.queue.path
	p.watch(r.node.name, w)
	p.watch(children, w)
	r.asks.contention = c.ask(&WatchContention{Path: p.path, Node: r.node.name}, contentionRead{r.id})
}

type contentionRead struct{ request RequestID }

// stale: the queue was listed anew since, or its owner does not ask any more.
func (p contentionRead) stale(c *Coordinator, id uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.asks.contention != id
}

// answered: only a listing says whether there are other contenders. A change may be of another queue.
func (p contentionRead) answered(c *Coordinator, _ uint64, answer Answer) {
	if a, r := answer.(*Contention), c.requests[p.request]; !a.Alone || a.Spent {
		c.unwatchContention(r)
		c.tell(r, machine.Event{Kind: machine.Contended})
	}
}

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
	case f.none():
		c.tell(r, machine.Event{Kind: machine.Checked})
	case f.is(NoNode):
		c.missing(r.queue, r.node)
	default: // as if a heartbeat had no answer
		c.tell(r, machine.Event{Kind: machine.Silent})
	}
}
