package coordinator

// The line of a queue: requests that stand inside the session, without a node, because it has as many nodes as it may
// have. They are in the order in which they came; a candidate in an election stands before those of lesser priority. The
// line is a list that goes through its requests, so that one may leave it from the middle however long it is.

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

// leaveLine takes a request out of the line, and gives up the room that is kept for it.
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
		c.keep(r, was.phase, -1)
	}
	c.look(q)
}

// keep keeps room for a node of a request that is called, or whose room is due. sign is -1 to give it up.
func (c *Coordinator) keep(r *request, as turnPhase, sign int) {
	l, weight := &c.epoch.load, sign*c.weigh(r.spec)
	if as == roomDue {
		l.due += weight
	} else {
		l.kept += weight
	}
	l.share(r.spec.Requester, weight)
	r.queue.room.nodes += sign
	r.queue.room.waiting += sign
}

// hasPlace tells whether the node of a request has a place in its queue, which the request keeps if the node is lost. A
// downgrade has that of another.
func (c *Coordinator) hasPlace(r *request) bool {
	return r.life == active && !r.sharing.holdOfOther && c.waits(r.node)
}

// call keeps room for the node of a request, which may make it as soon as it asks.
func (c *Coordinator) call(r *request, as turnPhase) {
	c.leaveLine(r)
	r.turn.phase = as
	c.keep(r, as, 1)
}
