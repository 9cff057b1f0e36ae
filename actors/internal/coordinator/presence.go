package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// have notes that the node of a request was made, or found.
func (c *Coordinator) have(r *request, name string, number int32, token messages.Token) {
	n, q := r.node, r.queue
	if n.exists() && n.name == name {
		n.token = token
		return
	}
	if n.exists() {
		q.remove(n)
	}
	if q.one != "" && len(q.nodes) > 0 { // the one that was there is gone, or this one could not be
		for _, id := range slices.Clone(q.nodes[0].users) {
			c.tell(c.requests[id], machine.Event{Kind: machine.NodeGone})
			c.lose(c.requests[id])
		}
	}
	q.newest = max(q.newest, token.Zxid())
	n.name, n.number, n.token, n.users = name, number, token, []RequestID{r.id}
	c.setPhase(q, n, present)
	q.insert(n)
	if c.misdescribed(q, n) { // others may have come, or gone, since it was asked for
		c.describeSoon()
	}
}

// lose notes that a request has no node any more: it does not exist, or others go on with it.
func (c *Coordinator) lose(r *request) {
	n := r.node
	c.endWait(r)
	c.unwatchOwn(r)
	c.setHeld(r, false)
	r.early = nil
	r.node = newNode(r.spec)
	n.users = slices.DeleteFunc(n.users, func(id RequestID) bool { return id == r.id })
	if len(n.users) == 0 {
		c.endCohortOf(r.queue, n)
	}
	if len(n.users) > 0 && c.misdescribed(r.queue, n) {
		c.describeSoon()
	}
	q := r.queue
	if len(n.users) > 0 || !n.exists() {
		if len(n.users) == 0 && n.phase == unknown {
			c.setPhase(q, n, absent)
		}
		return
	}
	q.remove(n)
	c.setPhase(q, n, absent)
	q.ignoreArrivals(n)
	c.departed(q)
	c.vanished(q.path, n.name)
}

// vanished tells those who wait for a node that it is gone.
func (c *Coordinator) vanished(p *lockPath, name string) {
	if name == "" {
		return
	}
	for _, w := range p.watchers[name] { // a list of them is replaced, and not changed, while they are told
		if w.role == waits || w.role == looksAhead {
			c.hearOfOther(w, name, NodeDeleted, true)
		}
	}
}

// setHeld notes whether a request holds.
func (c *Coordinator) setHeld(r *request, held bool) {
	switch {
	case held && !r.held:
		c.epoch.held++
	case !held && r.held:
		c.epoch.held--
	}
	r.held = held
	c.recount(r.queue, r.node)
}
