package coordinator

import (
	"fmt"
	"slices"
)

// Check gives the first invariant of the state that does not hold, nil when all do. Tests and package walk call it
// after every input.
func (c *Coordinator) Check() error {
	held := 0
	for _, r := range c.inOrder() {
		if r.held {
			held++
		}
		if wrong := c.checkRequest(r); wrong != "" {
			return fmt.Errorf("request %d, life %d, node %+v: %s", r.id, r.life, *r.node, wrong)
		}
	}
	if held != c.epoch.held {
		return fmt.Errorf("%d requests hold, and %d are counted", held, c.epoch.held)
	}
	if wrong := c.checkAdmission(); wrong != "" {
		return fmt.Errorf("admission: %s", wrong)
	}
	if c.awaitsOrphans() && (c.epoch.timers[c.epoch.orphanTimer].kind != OrphanTimer) {
		return fmt.Errorf("an orphan may come, and nobody will look")
	}
	if d := &c.epoch.describes; d.asked != 0 && c.epoch.asked[d.asked] == nil {
		return fmt.Errorf("a node is being described, and nobody will answer")
	}
	for id, what := range c.epoch.asked {
		p, looks := what.(countingAhead)
		if looks && !p.stale(c, id) && !slices.Contains(c.requests[p.request].queue.looks, id) {
			return fmt.Errorf("request %d looks whether it may queue, and its queue does not know", p.request)
		}
	}
	for _, p := range c.epoch.paths {
		if wrong := c.checkPath(p); wrong != "" {
			return fmt.Errorf("path %s: %s", p.path, wrong)
		}
	}
	return nil
}

// checkRequest describes the first violation that it finds in a request; "" for none.
func (c *Coordinator) checkRequest(r *request) string {
	n := r.node
	switch {
	case r.queue == nil || c.epoch.paths[r.queue.path.path] != r.queue.path:
		return "its lock path is of another epoch"
	case n.exists() && !slices.Contains(n.users, r.id):
		return "it is not among the users of its node"
	case n.exists() && !r.queue.has(n):
		return "its node is not in the queue"
	case r.held && !n.exists() && n.phase != unknown:
		return "it holds without a node"
	case r.asks.contention && (n.arrivals != arrivalsWatched || !slices.Contains(r.queue.path.children, watcher{role: retains, node: n.name})):
		return "it is to hear of other contenders, and nobody watches for them"
	case r.asks.check != 0 && c.epoch.asked[r.asks.check] == nil:
		return "its node is being checked, and nobody will answer"
	case r.wait != nil && r.life == ended:
		return "it waits, and has ended"
	case r.life == ended && r.removal.phase == noRemoval && n.phase != retained:
		return "it has ended, and nothing removes its node"
	case r.life == ended && slices.Contains(r.queue.owners[r.spec.Owner], r.id):
		return "it has ended, and keeps others of its owner out"
	case r.removal.phase == removing && n.phase == creating:
		return "its node is made and deleted at the same time"
	case n.phase == retained && !r.retains():
		return "its node is retained, and the queue does not know"
	case n.phase == retained && r.held:
		return "it holds with a node that it has left"
	case len(n.line) > 0 && c.holdsWith(n):
		return "readers wait in line for a node that has the lock"
	case r.sharing.with != nil &&
		(r.life == ended || n.phase != absent || !slices.Contains(r.sharing.with.line, r.id)):
		return "it waits in line for a node, and has ended, or has a node"
	case r.sharing.with != nil && !r.sharing.with.mayServe():
		return "it waits in line for a node that is gone"
	case r.sharing.inLine != slices.Contains(r.queue.cohort.line, r.id):
		return "it waits in its cohort, and that does not know"
	case r.sharing.inLine && r.turn.phase != noTurn && c.epoch.connected:
		return "it waits in its cohort, and for its turn to make a node"
	case r.pace.keepsOrder() && !c.epoch.connected:
		return "an order of a connection that is lost waits for the end of a pause"
	case r.pace.keepsOrder() && !c.willEndPause(r):
		return "an order waits for the end of a pause, and nothing will end it"
	case r.sharing.waitingCreate != 0 && n.phase == creating:
		return "it waits for another of its owner, and makes a node"
	}
	return ""
}

// willEndPause reports whether a timer runs for each order of a request that waits for the end of a
// pause.
func (c *Coordinator) willEndPause(r *request) bool {
	for _, kind := range [...]*paced{&r.pace.orders, &r.pace.searches} {
		if kind.waiting.Op != 0 && c.epoch.timers[kind.timer].kind != PauseTimer {
			return false
		}
	}
	return true
}

// checkPath describes the first violation that it finds in a lock path; "" for none.
func (c *Coordinator) checkPath(p *lockPath) string {
	for _, q := range p.queues {
		for at, n := range q.nodes {
			switch {
			case !n.exists():
				return fmt.Sprintf("%s is in a queue, and does not exist", n.name)
			case len(n.users) == 0:
				return fmt.Sprintf("%s is nobody's", n.name)
			case c.misdescribed(n) && c.epoch.timers[c.epoch.describes.timer].kind != DescribeTimer:
				return fmt.Sprintf("the data of %s are wrong, and nobody will look", n.name)
			case !c.mayShare(n):
				return fmt.Sprintf("%s is shared by requests that exclude each other", n.name)
			case at > 0 && n.number < q.nodes[at-1].number:
				return fmt.Sprintf("%s stands behind %s", n.name, q.nodes[at-1].name)
			}
		}
		if q.retained != nil && c.requests[q.retained.request] == nil {
			return "a node is retained that nobody has had"
		}
		if !slices.IsSorted(q.looks) {
			return "requests look in another order than that in which they asked"
		}
		if wrong := c.checkCohort(q); wrong != "" {
			return wrong
		}
		if q.burst.remote < 0 || len(q.burst.creates) > 0 && c.epoch.timers[q.burst.timer].kind != CreatesTimer ||
			len(q.burst.deletes) > 0 && c.epoch.timers[q.burst.deleteTimer].kind != DeletesTimer {
			return "changes are delayed, and nothing will send them"
		}
	}
	for name, all := range p.watchers {
		for _, w := range all {
			if r := c.requests[w.request]; w.role != retains && w.role != serves && (r == nil || !r.watches(name, w.role)) {
				return fmt.Sprintf("events of %q are for a request that does not wait for them", name)
			}
		}
	}
	return ""
}

// mayShare reports whether all users of a node may hold with it together: those of one owner, and readers.
func (c *Coordinator) mayShare(n *node) bool {
	first := c.requests[n.users[0]]
	return !slices.ContainsFunc(n.users, func(id RequestID) bool {
		r := c.requests[id]
		sameOwner := r != nil && (r == first || r.spec.Owner != "" && r.spec.Owner == first.spec.Owner)
		return !sameOwner && (r == nil || !r.spec.Reads() || !first.spec.Reads())
	})
}

// mayServe reports whether a node is there, or may come to be.
func (n *node) mayServe() bool {
	return n.phase == creating || n.phase == present || n.phase == unknown
}

// checkCohort describes the first violation that it finds in a cohort; "" for none.
func (c *Coordinator) checkCohort(q *ownQueue) string {
	k := &q.cohort
	if k.node != nil && (k.node.phase == absent || k.node.phase == deleting || k.node.phase == leftToOthers) {
		return "a node serves a cohort, and does not exist"
	}
	if k.node != nil && k.node.phase == retained && q.retained.next == 0 && len(k.line) > 0 {
		return "requests wait in a cohort for a node that nobody is to hold with"
	}
	if k.node == nil && k.called == 0 && len(k.line) > 0 && c.epoch.connected {
		return "requests wait in a cohort that nobody leads"
	}
	if called := c.requests[k.called]; k.called != 0 && (called == nil || called.life == ended) {
		return "a request that has ended is to lead a cohort"
	}
	if !slices.IsSorted(k.line) {
		return "requests wait in a cohort in another order than that in which they came"
	}
	for _, id := range k.line {
		if r := c.requests[id]; r == nil || r.life == ended || r.node.phase != absent || !r.sharing.inLine ||
			r.spec.Style != k.style {
			return fmt.Sprintf("request %d waits in a cohort, and has ended, has a node, or is of another style", id)
		}
	}
	return ""
}

// checkAdmission counts nodes, lines and weight anew. It describes the first count of the session
// that differs, or the first bound that is exceeded; "" for none.
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
			q.coming++
		}
		if wrong := c.checkTurn(r); wrong != "" {
			return fmt.Sprintf("request %d: %s", r.id, wrong)
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.counted != (counted{n.weighs(), c.isWaiting(n), n.phase == creating || n.phase == unknown}) {
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
		if n.counted.coming {
			q.coming++
		}
		if n.counted.waiting {
			q.waiting++
			if r.unbounded() {
				q.unbounded++
			}
		}
	}
	l := &c.epoch.load
	switch {
	case nodes != l.nodes || kept != l.reserved || due != l.due || going != l.going || standing != l.inLine:
		return fmt.Sprintf("the session has %d, %d, %d, %d and %d, and counts %+v", nodes, kept, due, going, standing, *l)
	case l.nodes+l.others+l.reserved > c.bounds.Weight+beyond:
		return fmt.Sprintf("the nodes of the session weigh %d, and may weigh %d", l.nodes+l.others+l.reserved, c.bounds.Weight)
	}
	for q, has := range byQueue {
		if wrong := c.checkLine(q, *has); wrong != "" {
			return fmt.Sprintf("queue %q of %s: %s", q.name, q.path.path, wrong)
		}
	}
	return ""
}

// counts has the room that a queue uses, counted anew; unbounded counts the waiting nodes that no
// bound stops, coming the requests whose nodes may come.
type counts struct {
	room
	unbounded, coming int
}

// checkTurn describes the first violation that it finds in the turn of a request; "" for none.
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

// unbounded reports whether no bound stops a request: a downgrade, a request that shares a hold, or
// one that goes on with a node that was made before.
func (r *request) unbounded() bool {
	return r.sharing.holdOfOther || r.inherited != 0 || r.node.token.Place() > 0
}

// checkLine describes the first violation that it finds in the line of a queue; "" for none.
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
	case has.coming != len(q.coming):
		return fmt.Sprintf("%d nodes are to come, and %d are listed", has.coming, len(q.coming))
	case has.waiting-has.unbounded > c.bounds.Waiting:
		return fmt.Sprintf("%d nodes wait, and %d may", has.waiting-has.unbounded, c.bounds.Waiting)
	case length > 0 && q.room.nodes == 0 && c.epoch.connected:
		return "requests stand in line behind nobody"
	case length > 0 && c.epoch.connected && c.idles(q):
		return "there is room, and nobody is called"
	case q.line.toScan:
		return "the line is to be scanned, and the input is over"
	}
	return ""
}

// idles reports whether the head of a line should have been called. A requester of a gateway that has its share is
// looked at with its own queue, and lines that wait for weight in their order.
func (c *Coordinator) idles(q *ownQueue) bool {
	head := c.requests[q.line.first].spec
	return q.room.waiting <= c.bounds.Waiting/2 && c.fits(head) && head.Requester == "" &&
		(!q.line.short || c.epoch.short[0] == q)
}
