package coordinator

import "slices"

// Weight. When a session ends, the servers delete all of its ephemeral nodes in one transaction, which names each by
// its path. A transaction that is larger than their jute.maxbuffer can neither be sent among them nor be read again
// from their logs, and destroys the ensemble (ZOOKEEPER-4306). So each node is weighed as that transaction writes it
// (class CloseSessionTxn: a vector of strings), from before its create is sent until the servers are known not to
// have it.
//
// Orphans are not weighed (orphan.go): they come seldom, and go at once. The bound is half of what a server reads.

const (
	// weightShares bounds a requester of a gateway to 1/weightShares of its session's weight.
	weightShares = 4
)

// weigh gives the weight of a request's node. In a contest that is the weight of its guard, too.
func (c *Coordinator) weigh(sp *Spec) int {
	if sp.One != "" { // the chroot is part of the path of its guard, too
		return 2*c.bounds.Root + sp.size
	}
	return c.bounds.Root + sp.size
}

// fits reports whether a node of a request can be made now.
func (c *Coordinator) fits(sp *Spec) bool { return c.lacks(c.weigh(sp)) <= 0 && !c.overShare(sp) }

// overShare reports whether a requester of a gateway would have more than its share.
func (c *Coordinator) overShare(sp *Spec) bool {
	return sp.Requester != "" && c.epoch.load.shares[sp.Requester]+c.weigh(sp) > c.bounds.Weight/weightShares
}

// lacks gives the weight that must go before a node of this weight fits; not above zero when it
// fits.
func (c *Coordinator) lacks(weight int) int {
	l := &c.epoch.load
	return l.nodes + l.others + l.reserved + l.due + weight - c.bounds.Weight
}

// share adds to the weight of a requester of a gateway.
func (l *load) share(of string, weight int) {
	if of == "" {
		return
	}
	if l.shares[of] += weight; l.shares[of] == 0 {
		delete(l.shares, of)
	}
}

// setPhase sets the phase of a node of a queue. It is the one place where phases change.
func (c *Coordinator) setPhase(q *ownQueue, n *node, to phase) {
	n.phase = to
	c.recount(q, n)
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

// weighs reports whether the servers may have a node, or get it.
func (n *node) weighs() bool { return n.phase != absent && n.phase != leftToOthers }

// isWaiting reports whether a node is being made, or stands in its queue, and nobody holds with it yet.
func (c *Coordinator) isWaiting(n *node) bool {
	return (n.phase == creating || n.phase == present || n.phase == unknown) && !c.holdsWith(n)
}

// recount counts a node by its present phase. The head of its queue's line may have a turn then.
func (c *Coordinator) recount(q *ownQueue, n *node) {
	l, was := &c.epoch.load, n.counted
	n.counted = counted{weighs: n.weighs(), waiting: c.isWaiting(n), coming: n.phase == creating || n.phase == unknown}
	if n.counted == was {
		return
	}
	if now := n.counted.weighs; now != was.weighs {
		sign := 1
		if !now {
			sign = -1
		}
		l.nodes += sign * c.weigh(n.made)
		l.share(n.made.Requester, sign*c.weigh(n.made))
		q.room.nodes += sign
		q.room.excluding += sign * n.made.excluding()
		if !now && n.goes {
			n.goes = false
			l.going -= c.weigh(n.made)
		}
	}
	if now := n.counted.waiting; now != was.waiting {
		q.room.waiting++
		if !now {
			q.room.waiting -= 2
		}
	}
	if now := n.counted.coming; now != was.coming {
		q.expect(n.made, now)
	}
	c.scanLine(q)
}

// scanLine has the line of a queue scanned with the input at hand: whose turn is it?
func (c *Coordinator) scanLine(q *ownQueue) {
	if q.line.first != 0 && !q.line.toScan {
		q.line.toScan = true
		c.epoch.toScan = append(c.epoch.toScan, q)
	}
}

// The line of a queue: requests that stand inside the session, without a node, because it has as
// many nodes as it may have. They are in the order in which they came; a candidate in an election
// stands before those of lesser priority. The line is a list that goes through its requests, so
// that a request may leave it from the middle however long it is.

// enterLine puts a request at the end of the line, behind none of lesser priority.
func (c *Coordinator) enterLine(r *request) {
	q := r.queue
	before := q.line.last
	for before != 0 && c.requests[before].spec.Want.Priority < r.spec.Want.Priority {
		before = c.requests[before].turn.previous
	}
	after := q.line.first
	if before != 0 {
		after = c.requests[before].turn.next
	}
	r.turn = turn{inLine, before, after}
	c.link(q, before, r.id)
	c.link(q, r.id, after)
	q.line.length++
	q.room.excluding += r.spec.excluding()
	c.epoch.load.inLine++
}

// link has one request stand right behind another; zero is the end of the line.
func (c *Coordinator) link(q *ownQueue, before, after RequestID) {
	if before == 0 {
		q.line.first = after
	} else {
		c.requests[before].turn.next = after
	}
	if after == 0 {
		q.line.last = before
	} else {
		c.requests[after].turn.previous = before
	}
}

// leaveLine takes a request out of the line, and frees the room that is reserved for it.
func (c *Coordinator) leaveLine(r *request) {
	q, was := r.queue, r.turn
	r.turn = turn{}
	switch was.phase {
	case noTurn:
		return
	case inLine:
		c.link(q, was.previous, was.next)
		q.line.length--
		q.room.excluding -= r.spec.excluding()
		c.epoch.load.inLine--
	default:
		c.reserve(r, was.phase, -1)
	}
	c.scanLine(q)
}

// reserve reserves room for the node of a request that is called, or whose room is due. sign is -1 to
// free it.
func (c *Coordinator) reserve(r *request, as turnPhase, sign int) {
	l, weight := &c.epoch.load, sign*c.weigh(r.spec)
	if as == roomDue {
		l.due += weight
	} else {
		l.reserved += weight
	}
	l.share(r.spec.Requester, weight)
	r.queue.room.nodes += sign
	r.queue.room.waiting += sign
	r.queue.expect(r.spec, sign > 0)
}

// expect notes that the node of a request is to come, or that it is not any more.
func (q *ownQueue) expect(sp *Spec, coming bool) {
	if coming {
		q.coming = append(q.coming, sp)
	} else if at := slices.Index(q.coming, sp); at >= 0 {
		q.coming = slices.Delete(q.coming, at, at+1)
	}
}

// hasPosition reports whether the node of a request has a position in its queue, which the request keeps
// if the node is lost. A downgrade has the position of another node.
func (c *Coordinator) hasPosition(r *request) bool {
	return r.life == active && !r.sharing.holdOfOther && c.isWaiting(r.node)
}

// call reserves room for the node of a request, which may make it as soon as it asks.
func (c *Coordinator) call(r *request, as turnPhase) {
	c.leaveLine(r)
	r.turn.phase = as
	c.reserve(r, as, 1)
}
