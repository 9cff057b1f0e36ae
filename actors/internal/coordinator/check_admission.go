package coordinator

import "fmt"

// checkAdmission gives what is wrong with what the session counts as having at the servers.
func (c *Coordinator) checkAdmission() string {
	var nodes, kept, due, going, standing int
	byQueue := map[*ownQueue]*counts{}
	of := func(q *ownQueue) *counts {
		if byQueue[q] == nil {
			byQueue[q] = &counts{}
		}
		return byQueue[q]
	}
	seen, beyond := map[*node]bool{}, 0
	for _, r := range c.requests {
		n, q := r.node, of(r.queue)
		switch r.turn.phase {
		case inLine:
			standing++
			q.excluding += r.spec.excluding()
		case called:
			kept += c.weigh(r.spec)
		case roomDue:
			due += c.weigh(r.spec)
		}
		if r.turn.phase == called || r.turn.phase == roomDue {
			q.nodes++
			q.waiting++
		}
		if wrong := c.checkTurn(r); wrong != "" {
			return fmt.Sprintf("request %d: %s", r.id, wrong)
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.counted != (counted{n.weighs(), c.waits(n)}) {
			return fmt.Sprintf("node %q of request %d is %+v, and counted as %+v", n.name, r.id, n.phase, n.counted)
		}
		if n.counted.weighs {
			nodes += c.weigh(n.made)
			q.nodes++
			q.excluding += n.made.excluding()
			if n.goes {
				going += c.weigh(n.made)
			}
			if r.unbounded() {
				beyond += c.weigh(n.made)
			}
		}
		if n.counted.waits {
			q.waiting++
			if r.unbounded() {
				q.unbounded++
			}
		}
	}
	l := &c.epoch.load
	switch {
	case nodes != l.nodes || kept != l.kept || due != l.due || going != l.going || standing != l.inLine:
		return fmt.Sprintf("the session has %d, %d, %d, %d and %d, and counts %+v", nodes, kept, due, going, standing, *l)
	case l.nodes+l.others+l.kept > c.bounds.Weight+beyond:
		return fmt.Sprintf("the nodes of the session weigh %d, and may weigh %d", l.nodes+l.others+l.kept, c.bounds.Weight)
	}
	for q, has := range byQueue {
		if wrong := c.checkLine(q, *has); wrong != "" {
			return fmt.Sprintf("queue %q of %s: %s", q.name, q.path.path, wrong)
		}
	}
	return ""
}

// counts is what a queue has, and how many nodes wait in it that no bound stops.
type counts struct {
	room
	unbounded int
}

// checkTurn gives what is wrong with where a request stands.
func (c *Coordinator) checkTurn(r *request) string {
	switch {
	case r.turn.phase != noTurn && r.node.phase != absent:
		return "it waits for its turn, and has a node"
	case r.turn.phase != noTurn && r.life == ended:
		return "it waits for its turn, and has ended"
	case r.turn.phase != inLine && (r.turn.previous != 0 || r.turn.next != 0):
		return "it stands in no line, and has neighbours"
	}
	return ""
}

// unbounded tells whether no bound stops a request: a downgrade, who shares a hold, or goes on with a node that was made
// before.
func (r *request) unbounded() bool {
	return r.sharing.holdOfOther || r.inherited != 0 || r.node.token.Place() > 0
}

// checkLine gives what is wrong with the line of a queue.
func (c *Coordinator) checkLine(q *ownQueue, has counts) string {
	length, last := 0, RequestID(0)
	for id := q.line.first; id != 0; id = c.requests[id].turn.next {
		r := c.requests[id]
		if r == nil || r.turn.phase != inLine || r.turn.previous != last || r.queue != q {
			return fmt.Sprintf("request %d is in the line, and does not stand there", id)
		}
		last = id
		length++
	}
	switch {
	case last != q.line.last || length != q.line.length:
		return "the line ends elsewhere"
	case has.room != q.room:
		return fmt.Sprintf("it has %+v, and counts %+v", has.room, q.room)
	case has.waiting-has.unbounded > c.bounds.Waiting:
		return fmt.Sprintf("%d nodes wait, and %d may", has.waiting-has.unbounded, c.bounds.Waiting)
	case length > 0 && q.room.nodes == 0 && c.epoch.connection == connected:
		return "requests stand in line behind nobody"
	case length > 0 && c.epoch.connection == connected && c.idles(q):
		return "there is room, and nobody is called"
	case q.line.looked:
		return "the line is to be looked at, and the input is over"
	}
	return ""
}

// idles tells whether the head of a line should have been called. A requester of a gateway that has its share is looked
// at with its own queue, and lines that wait for weight in their order.
func (c *Coordinator) idles(q *ownQueue) bool {
	head := c.requests[q.line.first].spec
	return q.room.waiting <= c.bounds.Waiting/2 && c.fits(head) && head.Requester == "" &&
		(!q.line.short || c.epoch.short[0] == q)
}
