package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// verify finds out whether the node of a request exists in this session. It waits for the create of the request to come
// back first: what is under way may yet make the node.
func (c *Coordinator) verify(r *request, op uint64) {
	r.stopsWaiting() // what it waited for is void, and would be answered twice
	switch {
	case op < r.search.op: // a newer one has overtaken it: nobody waits for this one
		c.stale++
	case r.node.phase == left || r.node.phase == retained:
		// That it gave the lock back was lost on the way, behind a loss of the connection. The node is another's, or
		// nobody's.
		c.tell(r, machine.Event{Kind: machine.Found, Op: op})
	case r.node.phase == creating:
		r.search.later = max(r.search.later, op)
	case c.epoch.connection != connected: // the machine was told, or is about to be
		c.park(r, machine.Effect{Do: machine.Verify, Op: op})
	default:
		r.search.op = op
		c.find(r, finding{r.id, op})
	}
}

// find asks for the node of a request. A node that is known needs nothing but the proof; another is sought.
func (c *Coordinator) find(r *request, purpose purpose) {
	what := &Find{Spec: r.spec, GUID: r.node.guid}
	if r.node.exists() && r.node.token.Zxid() != 0 && r.spec.One == "" {
		what.Known = r.node.name
	}
	c.ask(what, purpose)
}

// finding is what a Find is for, where the machine has asked to verify.
type finding struct {
	request RequestID
	op      uint64
}

// lapsed: a newer one, or a create, was started meanwhile.
func (p finding) lapsed(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.search.op != p.op || r.life == ended
}

func (p finding) answered(c *Coordinator, _ uint64, answer Answer) {
	r := c.requests[p.request]
	switch a := c.resolve(r, answer.(*Found)); {
	case a.Failure.is(NoAuth):
		r.node.mayExist()
		c.tell(r, failed(p.op, a.Failure))
	case !a.Failure.none():
		c.tell(r, machine.Event{Kind: machine.Unknown, Op: p.op, Detail: a.Failure.Detail})
	case a.Name == "":
		name := r.node.name
		c.lose(r) // others that held with it find out for themselves
		c.vanished(r.queue.path, name)
		c.tell(r, machine.Event{Kind: machine.Found, Op: p.op})
	default:
		ev := c.adopt(r, p.op, a)
		// A request that waits could not be granted the lock if its turn came now: each search for its node adds to the
		// evidence. A node that is to go needs none.
		if ev.Kind == machine.Found && !c.at.Lease.Valid && !r.held && r.life == active {
			c.after(c.epoch.timeout/evidencePerTimeout, timer{kind: SearchTimer, request: r.id, op: p.op})
			return
		}
		c.tell(r, ev)
	}
}

// searchAgain verifies once more what was found, for want of evidence, unless the request has gone on. A search that
// nobody waits for could find the node gone, and its machine would not hear of it.
func (c *Coordinator) searchAgain(t timer) {
	r := c.requests[t.request]
	if r != nil && r.search.op == t.op && r.life != ended && c.epoch.connection == connected {
		c.verify(r, t.op)
	}
}

// resolve decides whether the node that was found is the request's.
func (c *Coordinator) resolve(r *request, a *Found) *Found {
	switch {
	case !a.Failure.none():
		return a
	case r.spec.One != "":
		switch c.whose(r, a.One) {
		case mine:
			return &Found{Name: r.spec.One, Czxid: a.One.Czxid}
		case undecided:
			return &Found{Failure: Failure{Outcome: Unknown, Detail: "a create is under way in the contest"}}
		}
		return &Found{}
	case a.Czxid == 0 && a.Name != r.node.name:
		return &Found{} // its name was known, and it has been deleted since
	}
	return a
}

// belonging is whose the one node of a contest is.
type belonging uint8

const (
	anothers belonging = iota
	mine
	// undecided: a create that is under way may have made it.
	undecided
)

// whose tells whose a node is that was read, for a request that may have made it. The data may say nothing, as when
// somebody has written there that he wants the lock. Then it is that of a request of this session which does not know
// whether it has made it: any will do, for only one takes it, and the others find it taken. But a create that is under
// way may be answered that it has made it.
func (c *Coordinator) whose(r *request, one *OneNode) belonging {
	switch {
	case one == nil || !one.Ours:
		return anothers
	case r.node.exists():
		return belongsIf(one.Czxid == r.node.token.Zxid())
	case one.Czxid <= r.queue.newest || r.node.phase != unknown: // it is, or was, one of others; or this one has made none
		return anothers
	case one.GUID != "":
		return belongsIf(one.GUID == r.node.guid)
	}
	for _, id := range r.queue.members {
		if other := c.requests[id]; other != r && other.node.phase == creating {
			return undecided
		}
	}
	return mine
}

func belongsIf(yes bool) belonging {
	if yes {
		return mine
	}
	return anothers
}

// adopt notes that a node was found to be the request's.
func (c *Coordinator) adopt(r *request, op uint64, a *Found) machine.Event {
	token, err := r.node.token, error(nil)
	if a.Name != r.node.name || token == 0 {
		token, err = r.token(a.Czxid)
	}
	if err != nil {
		r.node.mayExist()
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonZxidOutOfRange, Detail: err.Error()}
	}
	number, isContender := r.spec.number(a.Name)
	c.have(r, a.Name, number, token)
	c.beat()
	return machine.Event{Kind: machine.Found, Op: op, Node: a.Name, Token: token,
		Exhausted: !isContender || queue.Exhausted(number)}
}
