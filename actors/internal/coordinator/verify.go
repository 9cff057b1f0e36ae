package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// verify finds out whether the node of a request exists in this session. It waits for the create of
// the request to come back first: a create under way may yet make the node.
func (c *Coordinator) verify(r *request, op uint64) {
	switch {
	case op < r.search.op: // a newer search has overtaken it: nobody waits for this one
		c.stale++
	case r.node.phase == absent && r.node.guard == "" && c.epoch.orphans[r.spec.GUID] != nil:
		// It has no node. One that came after all is an orphan, and is removed. (A search deletes the guard of a node
		// that is gone.)
		c.tell(r, machine.Event{Kind: machine.Found, Op: op})
	case r.node.phase == creating:
		r.search.later = max(r.search.later, op)
	case !c.epoch.connected: // the machine was told, or is about to be
		c.park(r, machine.Effect{Do: machine.Verify, Op: op})
	default:
		r.search.op = op
		c.find(r, finding{operation{r.id, op}})
	}
}

// find asks for the node of a request. A node that is known needs nothing but the proof; another is sought.
func (c *Coordinator) find(r *request, purpose purpose) {
	what := &Find{Spec: r.spec, GUID: r.spec.GUID, Place: r.node.place, Guard: r.node.guard}
	if r.node.exists() && r.node.token.Zxid() != 0 && r.spec.One == "" {
		what.Known = r.node.name
	}
	if o := c.epoch.orphans[r.spec.GUID]; o != nil {
		what.Not = o.removed
	}
	if r.spec.One != "" && r.node.exists() {
		what.Czxid = r.node.token.Zxid()
	}
	c.ask(what, purpose)
}

// finding is the purpose of a Find, where the machine has asked to verify.
type finding struct{ operation }

// stale: a newer search, or a create, was started meanwhile.
func (p finding) stale(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.search.op != p.op || r.life == ended
}

func (p finding) answered(c *Coordinator, _ uint64, answer Answer) {
	r := c.requests[p.request]
	switch a := c.resolve(r, answer.(*Found)); {
	case a.Failure.is(NoAuth):
		c.mayExist(r)
		c.tell(r, failed(p.op, a.Failure))
	case !a.Failure.none():
		c.tell(r, machine.Event{Kind: machine.Unknown, Op: p.op, Detail: a.Failure.Detail})
	case a.Name == "":
		c.mayBeOrphaned(r)
		name := r.node.name
		c.lose(r)
		c.vanished(r.queue.path, name)
		c.tell(r, machine.Event{Kind: machine.Found, Op: p.op})
	default:
		ev := c.adopt(r, p.op, a)
		// A request that waits could not be granted the lock if its turn came now: each search for its node adds to the
		// evidence. A node that is to go needs none.
		if ev.Kind == machine.Found && !c.at.Lease.Valid && !r.held && r.life == active {
			c.after(c.epoch.timeout/evidencePerTimeout, timer{kind: SearchTimer, operation: p.operation})
			return
		}
		c.tell(r, ev)
	}
}

// searchAgain verifies a found node once more, for want of evidence, unless the request has gone
// on. A search that nobody waits for could find the node gone, and the machine would not hear of
// it.
func (c *Coordinator) searchAgain(t timer) {
	r := c.requests[t.request]
	if r != nil && r.search.op == t.op && r.life != ended && c.epoch.connected {
		c.verify(r, t.op)
	}
}

// resolve decides whether the node that was found is the request's. The node of a contest does not
// say so when a revoke request has replaced its data. Then it belongs to a request of this session
// that does not know whether it has made the node. Any of them will do: only one takes it, and the
// others find it taken. But a create that is still under way may have made it.
//
// Requests that wait for a node that was removed are told here: where the session may not READ the
// node, no event tells them.
func (c *Coordinator) resolve(r *request, a *Found) *Found {
	for _, name := range a.Removed {
		c.vanished(r.queue.path, name)
	}
	c.neverTakeRemoved(r, a)
	n, one, none := r.node, a.One, &Found{}
	switch {
	case !a.Failure.none():
		return a
	case r.spec.One == "" && a.Czxid == 0 && a.Name != n.name:
		return none // its name was known, and it has been deleted since
	case r.spec.One == "":
		return a
	case one == nil || !one.Ours,
		n.exists() && one.Czxid != n.token.Zxid(),
		!n.exists() && (one.Czxid <= r.queue.newest || n.phase != unknown), // it is, or was, another's; or r has made none
		!n.exists() && one.GUID != "" && one.GUID != r.spec.GUID:
		return none
	case !n.exists() && one.GUID == "" && c.othersCreate(r):
		return &Found{Failure: Failure{Outcome: Unknown, Detail: "a create is under way in the contest"}}
	default:
		if one.Guard != "" || !n.exists() {
			n.guard = one.Guard // of several creates whose outcome is not known, another may have made it
		}
		return &Found{Name: r.spec.One, Czxid: one.Czxid}
	}
}

// othersCreate reports whether other requests of this session make the node of a contest.
func (c *Coordinator) othersCreate(r *request) bool {
	return slices.ContainsFunc(r.queue.members, func(id RequestID) bool {
		other := c.requests[id]
		return other != r && other.node.phase == creating
	})
}

// mayExist notes that the node of a request may be there, and may not be looked for.
func (c *Coordinator) mayExist(r *request) {
	if r.node.phase == absent {
		r.node.phase = unknown
	}
}

// adopt notes that a node was found to be the request's.
func (c *Coordinator) adopt(r *request, op uint64, a *Found) machine.Event {
	token, err := r.node.token, error(nil)
	if a.Name != r.node.name || token == 0 {
		if r.spec.Want.Reclaim != "" { // a TakeOver may have come late, after the request has gone on without it
			r.inherited = 0
			if a.Name == r.takeOver.node {
				r.inherited = r.takeOver.token
			}
		}
		token, err = r.token(a.Czxid)
	}
	if err != nil {
		c.mayExist(r)
		return machine.Event{Kind: machine.Refused, Op: op, Reason: messages.ReasonZxidOutOfRange, Detail: err.Error()}
	}
	number, isContender := r.spec.number(a.Name)
	if c.epoch.orphans[r.spec.GUID] != nil { // it may be the node of an older create, and the newest come late
		c.mayBeOrphaned(r)
	}
	places := c.have(r, a.Name, number, token)
	c.beat()
	return machine.Event{Kind: machine.Found, Op: op, Node: a.Name, Token: token, Places: places,
		Exhausted: !isContender || queue.Exhausted(number)}
}
