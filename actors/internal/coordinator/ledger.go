package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// The ledger's answers: what looks and checks tell of the node of a request. look.go has the rules.

// verify finds out whether the node of a request exists. A create under way may yet make it: its answer comes first. The
// newest that was asked for is answered.
func (c *Coordinator) verify(r *request, op uint64) {
	switch {
	case r.node.phase == absent: // nothing can make it
		r.search = 0
		c.tell(r, machine.Event{Kind: machine.Found, Op: op})
	case !c.epoch.connected: // the machine was told, or is about to be
		c.park(r, machine.Effect{Do: machine.Verify, Op: op})
	default:
		r.search = op
		switch {
		case r.node.phase == creating:
		case r.held && r.node.exists() && r.spec.One == "":
			c.ask(&Check{Path: r.queue.path.at(r.node.name)}, checking{operation{r.id, op}})
		default:
			c.lookFor(r)
		}
	}
}

// checking is the purpose of the Check of a holder's node. A holder depends on no look, because the servers may hang up on a
// long list. A name is used for one create, so a node that is gone stays so.
type checking struct{ operation }

func (p checking) stale(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.search != p.op || r.life == ended
}

func (p checking) answered(c *Coordinator, _ uint64, answer Answer) {
	r, f := c.requests[p.request], answer.failure()
	n := Seen{Name: r.node.name}
	if f.is(NoNode) {
		n, f = Seen{}, Failure{}
	}
	c.resolve(r, n, f)
}

// stale: the connection was lost.
func (p looked) stale(c *Coordinator, id uint64) bool {
	path := c.epoch.paths[p.path]
	return path == nil || path.look.ask != id
}

func (p looked) answered(c *Coordinator, _ uint64, answer Answer) {
	path, a := c.epoch.paths[p.path], answer.(*Looked)
	l := &path.look
	covered, joined, again := l.covered, l.joined, false
	l.ask, l.covered, l.joined = 0, nil, nil
	found := map[RequestID]Seen{}
	for _, n := range a.Nodes {
		if r, _ := c.attemptOf(n.Name); r != nil {
			found[r.id] = n
		}
	}
	for _, id := range covered {
		c.resolve(c.requests[id], found[id], a.Failure)
	}
	for _, id := range joined {
		// A node that was there is shown, and others may be of a create that the look was too early for.
		if r, n := c.requests[id], found[id]; r != nil && (r.isSought() || n.Name == "") {
			c.join(r)
			again = true
		} else {
			c.resolve(r, n, a.Failure)
		}
	}
	if l.due = l.late > 0 && !a.Failure.none() && !a.Failure.is(NoAuth); a.Failure.none() {
		for _, n := range a.Nodes {
			c.removeStray(path, n.Name, 0)
		}
	}
	if again {
		c.look(path)
	}
	c.epoch.leavePath(path)
}

// resolve tells a request what a look has shown of its node, unless it has gone on.
func (c *Coordinator) resolve(r *request, n Seen, f Failure) {
	if r == nil || !r.isLookedFor() {
		return
	}
	op, removes := r.search, r.seeksToRemove()
	if n.Name != "" && f.is(NoAuth) { // it was looked for by its name
		f = Failure{}
	}
	ev := failed(op, f)
	switch {
	case !f.none():
	case n.Name == "" || n.Czxid == 0 && r.isSought() || r.queue.isPast(n.Czxid):
		ev = machine.Event{Kind: machine.Found, Op: op}
		if r.node.phase == unknown && r.node.lost {
			c.mayComeLate(r.queue.path)
		}
		switch name := r.node.name; {
		case r.spec.One == "" || name == "":
			c.forgetNode(r)
			c.vanished(r.queue.path, name)
		case !r.held: // else what is left goes when its request has heard of the loss, and ends
			c.forgetContest(r)
		}
	default:
		// Without a valid lease a waiter could not be granted the lock: each look adds to the evidence.
		ev = c.adopt(r, op, n)
		if !ev.Exhausted && !c.at.Lease.Valid && !r.held && r.life == active {
			c.join(r)
			c.lookLater(r.queue.path, c.epoch.timeout/evidencePerTimeout)
			return
		}
	}
	r.search = 0
	if op != 0 {
		c.tell(r, ev)
	}
	if !removes {
		return
	}
	r.removal.phase = noRemoval
	if !f.none() {
		c.removalFailed(r, r.removal.op, f)
		return
	}
	c.leave(r)
	c.remove(r)
}

func (c *Coordinator) adopt(r *request, op uint64, n Seen) machine.Event {
	name, token, err := n.Name, r.node.token, error(nil)
	if r.spec.One != "" {
		name = r.spec.One
	}
	if token == 0 {
		token, err = r.token(n.Czxid)
	}
	number, isContender := r.spec.number(name)
	places := c.have(r, name, number, token)
	c.beat()
	ev := machine.Event{Kind: machine.Found, Op: op, Node: name, Token: token, Places: places,
		Exhausted: !isContender || queue.Exhausted(number)}
	if err != nil {
		ev.Exhausted, ev.Reason, ev.Detail = true, messages.ReasonZxidOutOfRange, err.Error()
	}
	return ev
}

func (p strayRemoval) answered(c *Coordinator, _ uint64, answer Answer) {
	path, f := c.epoch.paths[p.path], answer.failure()
	path.strays = slices.DeleteFunc(path.strays, func(name string) bool { return name == p.name })
	note := &Note{What: Unowned, Path: p.path, Node: p.node, Detail: f.Detail}
	switch {
	case f.is(NoNode):
		c.epoch.leavePath(path)
		return
	case f.is(NoAuth):
		note.What, c.doomed = MayNotRemove, true
	case !f.none():
		note.What = NotRemoved
		if f.Outcome == Unknown && f.Trouble != "" {
			c.epoch.strayHangUps++
		}
		c.stays(path)
	}
	c.emit(note)
	if f.none() {
		c.vanished(path, p.node)
	}
	c.epoch.leavePath(path)
}
