package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// Admission (back-pressure) bounds the nodes that a session has at the servers. It answers two
// questions. May a request make a node (ownSeat)? Whose turn is it when one has gone (giveTurns)?
//
//   - Of one queue at most Bounds.Waiting nodes wait or are being made. Nodes of holders do not
//     count. Further requests stand in the line of the queue, and get nodes when half of the
//     waiting nodes have gone: many nodes in one transaction cost the servers little more than one.
//   - All nodes that may exist weigh at most Bounds.Weight: see room.go. When they would weigh
//     more, retained nodes that nobody uses are dropped first, the oldest first. Where that is not
//     enough, a request stands in the line if its queue has a node of this session. Otherwise it is
//     refused, because nothing would ever call it.
//   - A request that needs no node of its own is seated first (seat): no bound stops a request that
//     shares a hold, joins readers, or waits in a cohort. Nor does one stop a downgrade.
//
// A node that goes leaves its room to the line of its own queue before anybody else, with the same input. So a queue
// with a line never has no node. A request that is called keeps its room until it has asked or ended.

// lineUp has a request stand in the line of its queue. A request that only tries stands there, too,
// unless a request that keeps it out is known to be before it. Its machine is not told, because it
// would give up then.
func (c *Coordinator) lineUp(r *request, op uint64) {
	tries := r.spec.Want.Try
	if !tries || !c.keptOut(r) {
		if r.turn.phase != inLine {
			c.enterLine(r)
			c.scanLine(r.queue) // it may be the first that waits for weight
		}
		if tries {
			r.sharing.waitingCreate = op
			return
		}
		r.sharing.lineCreate = op
	}
	var last *node
	if at := len(r.queue.nodes); at > 0 {
		last = r.queue.nodes[at-1]
	}
	c.tellTaken(r, op, last)
}

// keptOut reports whether a request of this session is known to be before a request, and keeps it
// out.
func (c *Coordinator) keptOut(r *request) bool {
	switch q := r.queue; {
	case r.spec.Reads():
		return q.room.excluding > 0
	case r.spec.Permits > 0:
		return slices.ContainsFunc(q.nodes, func(n *node) bool {
			before := c.requests[n.users[0]]
			return before != nil && before.wait != nil // it does not fit
		})
	default:
		return true
	}
}

// giveTurns scans the lines of the queues in which a node has gone with the input at hand, and then
// the lines that wait for weight.
func (c *Coordinator) giveTurns() {
	if e := &c.epoch; len(e.toScan)+len(e.short)+len(e.due) == 0 {
		return // no request stands in a line
	}
	if !c.epoch.connected { // the next connection has all lines scanned
		for _, q := range c.epoch.toScan {
			q.line.toScan = false
		}
		c.epoch.toScan = nil
		return
	}
	c.roomCame()
	for q := c.nextLine(); q != nil; q = c.nextLine() {
		c.nextTurns(q)
	}
}

// nextLine gives the next queue whose line may have a turn; nil for none.
func (c *Coordinator) nextLine() (q *ownQueue) {
	if lines := c.epoch.toScan; len(lines) > 0 {
		q, c.epoch.toScan = lines[0], rest(lines)
		q.line.toScan = false
		return q
	}
	for len(c.epoch.short) > 0 {
		q = c.epoch.short[0]
		first := c.requests[q.line.first]
		if first != nil && q.room.waiting < c.bounds.Waiting && !c.fits(first.spec) && !c.overShare(first.spec) {
			return nil
		}
		c.epoch.short = rest(c.epoch.short)
		if q.line.short = false; first != nil {
			return q
		}
	}
	return nil
}

// rest gives a list without its first element; nil is the empty one.
func rest[T any](all []T) []T {
	if len(all) == 1 {
		return nil
	}
	return all[1:]
}

// scanAllLines has all lines scanned, with a new connection.
func (c *Coordinator) scanAllLines() {
	for _, r := range c.inOrder() {
		c.scanLine(r.queue)
	}
}

// nextTurns calls the requests in the line of a queue whose turn it is: half of the nodes that may
// wait are made together.
func (c *Coordinator) nextTurns(q *ownQueue) {
	if q.line.first != 0 && q.retained != nil && q.retained.next == 0 {
		c.dropRetained(q) // else a request that comes meanwhile would reuse it, before those in line
	}
	for q.line.first != 0 && c.readsAtOnce(c.requests[q.line.first]) {
	}
	if q.room.waiting > c.bounds.Waiting/2 {
		return
	}
	for q.line.first != 0 && q.room.waiting < c.bounds.Waiting {
		r := c.requests[q.line.first]
		s := c.roomFor(r)
		if s.clears {
			c.dropRetainedFor(c.weigh(r.spec))
		}
		switch s.kind {
		case makes:
			c.call(r, called)
			c.tellTurn(r)
		case awaitsRoom:
			c.awaitRoom(r)
		case full:
			c.leaveLine(r)
			c.refuseFull(r, r.sharing.waitingCreate)
		default:
			if !q.line.short && !c.overShare(r.spec) {
				q.line.short = true
				c.epoch.short = append(c.epoch.short, q)
			}
			return
		}
	}
}

// readsAtOnce lets a reader in that stands in the line, where a node that has the lock serves it now.
func (c *Coordinator) readsAtOnce(r *request) bool {
	k := &r.queue.cohort
	if !r.spec.Reads() || !r.spec.sharesNode() || k.style != r.spec.Style || !k.heldByReaders() || !c.letsIn(k.node) {
		return false
	}
	c.leaveLine(r)
	c.letIn(r, k.node, cmp.Or(r.sharing.waitingCreate, r.lineOp()))
	r.sharing.waitingCreate = 0
	return true
}

// tellTurn has a request that was called ask for its node.
func (c *Coordinator) tellTurn(r *request) {
	if r.sharing.waitingCreate != 0 {
		c.createAgain(r.id)
		return
	}
	c.tell(r, machine.Event{Kind: machine.PredecessorGone, Op: r.lineOp()})
}

// refuseFull refuses a request for which there is no room. op is its create, where that was not answered yet.
func (c *Coordinator) refuseFull(r *request, op uint64) {
	l := &c.epoch.load
	detail := fmt.Sprintf("the nodes of the session weigh %d bytes in the transaction that ends it, and may weigh %d",
		l.nodes+l.others+l.reserved+l.due, c.bounds.Weight)
	c.leaveOwner(r)
	c.leaveCohort(r)
	if op != 0 {
		r.sharing.waitingCreate = 0
		c.refuse(r, op, messages.ReasonSessionFull, detail)
		return
	}
	c.tell(r, machine.Event{Kind: machine.Refused, Op: r.lineOp(), Reason: messages.ReasonSessionFull, Detail: detail})
}

// awaitRoom has a request wait until the retained nodes that are dropped for it are gone.
func (c *Coordinator) awaitRoom(r *request) {
	if r.turn.phase != roomDue {
		c.call(r, roomDue)
		c.epoch.due = append(c.epoch.due, r.id)
	}
}

// others takes note of nodes of which only the shell knows.
func (c *Coordinator) others(in Others) {
	c.epoch.load.others += in.Change
	if in.Wanted > 0 {
		c.dropRetainedFor(in.Wanted)
	}
}

// dropRetainedFor drops retained nodes that nobody uses, the oldest first, until there will be room for
// this weight, or none is left.
func (c *Coordinator) dropRetainedFor(weight int) {
	l := &c.epoch.load
	for c.lacks(weight) > l.going {
		q := c.oldestRetained()
		if q == nil {
			return
		}
		n := c.requests[q.retained.request].node
		n.goes = true
		l.going += c.weigh(n.made)
		c.dropRetained(q)
	}
}

// oldestRetained gives the queue with the node that has been retained for the longest and that no
// request is about to use.
func (c *Coordinator) oldestRetained() (oldest *ownQueue) {
	for _, p := range c.epoch.paths {
		for _, q := range p.queues {
			if q.retained != nil && q.retained.next == 0 && (oldest == nil || q.retained.number < oldest.retained.number) {
				oldest = q
			}
		}
	}
	return oldest
}

// roomCame calls the requests for which retained nodes were dropped, as far as these are gone.
func (c *Coordinator) roomCame() {
	l := &c.epoch.load
	for len(c.epoch.due) > 0 {
		r := c.requests[c.epoch.due[0]]
		if r != nil && r.turn.phase == roomDue {
			if l.nodes+l.others+l.reserved+c.weigh(r.spec) > c.bounds.Weight {
				return
			}
			c.call(r, called)
			c.tellTurn(r)
		}
		c.epoch.due = rest(c.epoch.due)
	}
}

// positions are the requests that have a position in their queues: first those whose nodes wait, or that were called, and
// then the lines, each in order.
type positions struct{ first, lines []*request }

// positions gives those of the epoch that ends.
func (c *Coordinator) positions() (all positions) {
	for _, r := range c.inOrder() {
		switch {
		case r.life != active || r.spec.One != "":
		case r.turn.phase == called || r.turn.phase == roomDue || c.hasPosition(r):
			all.first = append(all.first, r)
		case r.turn.phase == inLine && r.turn.previous == 0:
			for id := r.id; id != 0; id = c.requests[id].turn.next {
				all.lines = append(all.lines, c.requests[id])
			}
		}
	}
	return all
}

// restore keeps the positions of an epoch that is over: in the next, requests that had nodes come
// before requests that stood in line.
func (c *Coordinator) restore(all positions) {
	for _, r := range all.first {
		c.call(r, called)
	}
	for _, r := range all.lines {
		switch {
		case r.queue.line.first == 0 && r.queue.room.waiting < c.bounds.Waiting && c.fits(r.spec):
			c.call(r, called)
		case r.queue.room.nodes > 0:
			c.enterLine(r)
		}
	}
}
