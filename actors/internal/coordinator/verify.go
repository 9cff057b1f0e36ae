package coordinator

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// looking is the search for a request's node.
type looking struct {
	// op is the newest search: the answers to older ones change nothing. later is one that waits for the create to come back.
	op, later uint64
}

// verify finds out whether the node of a request exists in this session. It waits for the create of the request to come back
// first: what is under way may yet make the node.
func (c *Coordinator) verify(r *request, op uint64) {
	c.stopsWaiting(r) // what it waited for is void, and would be answered twice
	switch {
	case op < r.looking.op: // a newer one has overtaken it: nobody waits for this one
		c.stale++
	case r.node.phase == left || r.node.phase == retained:
		// That it gave the lock back was lost on the way, behind a loss of the connection. The node is another's, or nobody's.
		c.tell(r, machine.Event{Kind: machine.Found, Op: op})
	case r.node.phase == creating:
		r.looking.later = max(r.looking.later, op)
	case c.epoch.connection != connected: // the machine was told, or is about to be
		c.park(r, machine.Effect{Do: machine.Verify, Op: op})
	default:
		r.looking.op = op
		c.find(r, op, false)
	}
}

// find asks for the node of a request. A node that is known needs nothing but the proof; another is sought.
func (c *Coordinator) find(r *request, op uint64, cleaning bool) {
	what := &Find{Spec: r.spec, GUID: r.node.guid}
	if r.node.exists() && r.node.token.Zxid() != 0 && r.spec.One == "" {
		what.Known = r.node.name
	}
	c.ask(what, finding{r.id, op, cleaning})
}

// finding is what a Find is for.
type finding struct {
	request RequestID
	op      uint64
	// cleaning: it is for the removal of what is left, and not for the machine.
	cleaning bool
}

func (p finding) answered(c *Coordinator, _ uint64, answer Answer) {
	r, a := c.requests[p.request], answer.(*Found)
	c.lookAtLease()
	f := a.Failure
	if r != nil && r.spec.One != "" && f.none() {
		switch c.whose(r, a.One) {
		case anothers:
			a = &Found{}
		case mine:
			a = &Found{Name: r.spec.One, Czxid: a.One.Czxid}
		default:
			f = Failure{Outcome: Unknown, Detail: "a create is under way in the contest"}
		}
	}
	if r != nil && f.none() && a.Czxid == 0 && a.Name != r.node.name {
		a = &Found{} // its name was known, and it has been deleted since
	}
	switch {
	case r == nil:
		c.stale++
	case p.cleaning:
		c.foundForRemoval(r, p.op, a, f)
	case r.looking.op != p.op || r.life == ended: // a newer one, or a create, was started meanwhile
		c.stale++
	default:
		c.found(r, p.op, a, f)
	}
}

// found takes the answer for the machine.
func (c *Coordinator) found(r *request, op uint64, a *Found, f Failure) {
	switch {
	case f.is(NoAuth):
		r.node.phase = unsure(r.node.phase)
		c.tell(r, failed(op, f))
	case !f.none():
		c.tell(r, machine.Event{Kind: machine.Unknown, Op: op, Detail: f.Detail})
	case a.Name == "":
		name := r.node.name
		c.lose(r) // others that held with it find out for themselves
		c.vanished(r.queue.path, name)
		c.tell(r, machine.Event{Kind: machine.Found, Op: op})
	default:
		ev := c.adopt(r, op, a)
		if ev.Kind == machine.Found && c.lacksEvidence(r) {
			c.after(c.epoch.timeout/evidencePerTimeout, lookAgain{r.id, op})
			return
		}
		c.tell(r, ev)
	}
}

// unsure is the phase of a node that may not be looked for.
func unsure(was phase) phase {
	if was == absent {
		return unknown
	}
	return was
}

// lacksEvidence tells whether a request that waits could not be granted the lock if its turn came now: each look for its node
// adds to the evidence. A node that is to go needs none.
func (c *Coordinator) lacksEvidence(r *request) bool {
	return !c.at.Lease.Valid && !r.held && r.life == active
}

// lookAgain is a look for a node that was found, for want of evidence.
type lookAgain struct {
	request RequestID
	op      uint64
}

// fires: unless the request has gone on. A look that nobody waits for could find the node gone, and its machine would not
// hear of it.
func (p lookAgain) fires(c *Coordinator) {
	if r := c.requests[p.request]; r != nil && r.looking.op == p.op && r.life != ended && c.epoch.connection == connected {
		c.verify(r, p.op)
	}
}

// adopt notes that a node was found to be the request's.
func (c *Coordinator) adopt(r *request, op uint64, a *Found) machine.Event {
	token, err := r.node.token, error(nil)
	if a.Name != r.node.name || token == 0 {
		token, err = r.node.tokenOf(r, a.Czxid)
	}
	if err != nil {
		r.node.phase = unsure(r.node.phase)
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonZxidOutOfRange, Detail: err.Error()}
	}
	number, isContender := r.spec.number(a.Name)
	c.have(r, a.Name, number, token)
	c.beat()
	return machine.Event{Kind: machine.Found, Op: op, Node: a.Name, Token: token,
		Exhausted: !isContender || queue.Exhausted(number)}
}
