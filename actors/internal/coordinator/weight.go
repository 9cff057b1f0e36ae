package coordinator

// Weight. When a session ends, the servers delete all of its ephemeral nodes in one transaction, which names each by its
// path. A transaction that is larger than their jute.maxbuffer can neither be sent among them nor be read again from
// their logs, and destroys the ensemble (ZOOKEEPER-4306). So each node is weighed as that transaction writes it (class
// CloseSessionTxn: a vector of strings), from before its create is sent until the servers are known not to have it.

const (
	// weightShares is how many requesters of a gateway it takes to use the whole of its session's weight.
	weightShares = 4
)

// weigh gives what a node of a request weighs.
func (c *Coordinator) weigh(sp *Spec) int { return c.bounds.Root + sp.size }

// fits tells whether a node of a request can be made now.
func (c *Coordinator) fits(sp *Spec) bool { return c.lacks(c.weigh(sp)) <= 0 && !c.overShare(sp) }

// overShare tells whether a requester of a gateway would have more than its share.
func (c *Coordinator) overShare(sp *Spec) bool {
	return sp.Requester != "" && c.epoch.load.shares[sp.Requester]+c.weigh(sp) > c.bounds.Weight/weightShares
}

// lacks is how much is to go before there is room for so much; not above zero when there is.
func (c *Coordinator) lacks(weight int) int {
	l := &c.epoch.load
	return l.nodes + l.others + l.kept + l.due + weight - c.bounds.Weight
}

// share adds to what a requester of a gateway has.
func (l *load) share(of string, weight int) {
	if of == "" {
		return
	}
	if l.shares[of] += weight; l.shares[of] == 0 {
		delete(l.shares, of)
	}
}

// setPhase notes what becomes of a node of a queue. It is the one place where phases change.
func (c *Coordinator) setPhase(q *ownQueue, n *node, to phase) {
	n.phase = to
	c.recount(q, n)
}

// weighs tells whether the servers may have a node, or get it.
func (n *node) weighs() bool { return n.phase != absent && n.phase != left }

// waits tells whether a node is being made, or stands in its queue, and nobody holds with it yet.
func (c *Coordinator) waits(n *node) bool {
	return (n.phase == creating || n.phase == present || n.phase == unknown) && !c.holdsWith(n)
}

// recount counts a node as what it is now. Whoever stands in the line of its queue may have a turn then.
func (c *Coordinator) recount(q *ownQueue, n *node) {
	l, was := &c.epoch.load, n.counted
	n.counted = counted{weighs: n.weighs(), waits: c.waits(n)}
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
	if now := n.counted.waits; now != was.waits {
		q.room.waiting++
		if !now {
			q.room.waiting -= 2
		}
	}
	c.look(q)
}

// look has the line of a queue looked at with the input at hand.
func (c *Coordinator) look(q *ownQueue) {
	if q.line.first != 0 && !q.line.looked {
		q.line.looked = true
		c.epoch.looks = append(c.epoch.looks, q)
	}
}
