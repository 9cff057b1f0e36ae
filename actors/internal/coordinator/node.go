package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// node is a contender node of this session, or what may become one.
type node struct {
	phase phase
	name  string // "" until it is known
	// guid is what its name carries, or the data of a contest's node; by is who asked for it first.
	guid, by string
	number   int32 // its sequence number
	place    int   // among the creates of its lock path in one transaction
	mates    bool  // there were others in that transaction: the places behind its own are theirs
	wanted   bool  // its data say that somebody wants the lock back
	token    messages.Token
	arrivals arrivals
	// users are the requests whose node it is: more than one where a hold is shared, none while it is retained.
	users []RequestID
	// successor is the node of this session that was right behind it when its holder left: who has the lock now, or is to
	// have it.
	successor *node
	checked   uint64 // the newest heartbeat that has checked it
}

// phase is what is known of a node.
type phase uint8

const (
	// absent: there is none, and nothing is under way that could make one.
	absent phase = iota
	// creating: a create waits or is under way, the only one.
	creating
	// present: it was made, and its name is known; it is in its queue. It may be gone without our knowing.
	present
	// deleting: as present, but its delete was asked for. Nobody relies on it.
	deleting
	// unknown: the outcome of the create is unknown. Its name is not known, or not sure.
	unknown
	// retained: as present, and nobody holds with it: the queue has it, for the next request.
	retained
	// left: of a request whose node was retained or shared, and is another's by now. It is no concern of the request any more.
	left
)

// exists tells whether the node is in its queue.
func (n *node) exists() bool { return n.phase == present || n.phase == deleting || n.phase == retained }

// have notes that the node of a request was made, or found.
func (c *Coordinator) have(r *request, name string, number int32, token messages.Token) {
	n, q := r.node, r.queue
	if n.exists() && n.name == name {
		n.token = token
		return
	}
	if n.exists() {
		q.take(n)
	}
	if q.one != "" && len(q.nodes) > 0 { // the one that was there is gone, or this one could not be
		c.replaced(q, q.nodes[0])
	}
	q.newest = max(q.newest, token.Zxid())
	n.phase, n.name, n.number, n.token, n.users = present, name, number, token, []RequestID{r.id}
	q.insert(n)
}

// replaced takes note that there is another node at the place of a contest's.
func (c *Coordinator) replaced(q *ownQueue, n *node) {
	for _, id := range slices.Clone(n.users) {
		r := c.requests[id]
		c.tell(r, machine.Event{Kind: machine.NodeGone})
		c.lose(r)
	}
}

// lose notes that a request has no node any more: it does not exist, or others go on with it.
func (c *Coordinator) lose(r *request) {
	n := r.node
	c.unwatch(r)
	c.setHeld(r, false)
	r.early = nil
	r.node = &node{guid: r.spec.GUID, by: r.spec.By}
	if n.users = slices.DeleteFunc(n.users, func(id RequestID) bool { return id == r.id }); len(n.users) > 0 || !n.exists() {
		return
	}
	c.gone(r.queue, n)
}

// gone takes a node that does not exist any more out of its queue, and tells those who wait for that.
func (c *Coordinator) gone(q *ownQueue, n *node) {
	if !n.exists() {
		return
	}
	q.take(n)
	n.phase = absent
	c.dropArrivals(q, n)
	c.rowDeparted(q)
	c.vanished(q.path, n.name)
}

// vanished tells those who wait for a node that it is gone.
func (c *Coordinator) vanished(p *lockPath, name string) {
	if name == "" {
		return
	}
	for _, w := range slices.Clone(p.watchers[name]) {
		if w.role == waits || w.role == looksAhead {
			c.stirred(p, name, w, NodeDeleted, true)
		}
	}
}

// missing takes note that the servers have no such node. Its users are told.
func (c *Coordinator) missing(q *ownQueue, n *node) {
	if !n.exists() {
		return
	}
	for _, id := range n.users {
		if r := c.requests[id]; r != nil {
			c.tell(r, machine.Event{Kind: machine.NodeGone})
		}
	}
	if n.phase == retained {
		c.release(q)
	}
	c.vanished(q.path, n.name)
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
}
