package coordinator

import (
	"slices"
	"time"
)

// Rows. Where several sessions queue for one lock, a hand-off to another session takes a delete and an event, and one within
// the session nothing: what counts is how many nodes of a session stand in a row. Workers who come back one by one, each as
// it has given the lock back, would stand one by one for ever. So changes to a queue gather, for
// rowDelay at most, and for a fifth of that where somebody else may wait for them:
//
//   - creates, while the session waits behind another one's node, and while it then has its turn, until the turn is over and
//     as many have come back as have left in it. Where no other session was met they gather only when a turn is over, for
//     as long as that takes, because the lock is free then;
//   - the deletes of a turn, until that of the last: the lock has been handed on already, and who waits in other sessions waits
//     for the last of them. Only those gather who have held for so short a time that the next are likely to do the same.
//
// The order of the queue is that of the nodes, as ever. Who only tries is not made to wait.

// rowDelay bounds how long a change waits for others. With four processes of eight workers rows are worth three to four times
// as many grants (workload processes of tests/bench).
const rowDelay = 5 * time.Millisecond

// shortDelay is the part of it for which somebody else may be kept waiting: when a turn is over the lock is free, or another
// session waits for the deletes.
const shortDelay = rowDelay / 5

// row is where a queue's nodes of this session stand towards those of others.
type row struct {
	turn turn
	// remote counts the requests that wait for a node of another session.
	remote int
	// creates wait for each other until timer fires, and deletes until theirs does.
	creates, deletes   []change
	timer, deleteTimer uint64
	// departed counts the nodes that have gone in this turn, back the creates that have come in it.
	departed, back int
}

// turn tells whether the nodes of a session hold one after the other.
type turn uint8

const (
	noTurn turn = iota
	// atHome: the lock was handed on, and no other session was met.
	atHome
	// myTurn: the last of those that waited for another session does not any more.
	myTurn
	// turnOver: and no node of this session is left in the queue.
	turnOver
)

// gathers tells whether creates wait for each other.
func (w *row) gathers() bool { return w.remote > 0 || w.turn == myTurn || w.turn == turnOver }

// complete tells whether all whom it makes sense to wait for are there.
func (w *row) complete() bool { return w.turn == turnOver && w.back >= w.departed }

// gather keeps a create back until others come; false where it is to go at once.
func (c *Coordinator) gather(ch change) bool {
	r := c.requests[ch.request]
	w := &r.queue.row
	if !r.spec.exclusive() || r.spec.Want.WatchAll || r.spec.Want.Try {
		return false
	}
	if w.turn != noTurn {
		w.back++
	}
	if !w.gathers() {
		return false
	}
	if w.timer == 0 {
		c.startRow(r.queue, rowDelay)
	}
	w.creates = append(w.creates, ch)
	if len(w.creates) == enough || w.complete() {
		c.sendRow(r.queue)
	}
	return true
}

// gatherDelete keeps a delete back until that of the last in its turn; false where it is to go at once, with those before it.
func (c *Coordinator) gatherDelete(ch change) bool {
	r := c.requests[ch.request]
	w := &r.queue.row
	next := r.node.nextHolder()
	if w.turn == noTurn || !ch.brief || next == nil || c.requests[next.users[0]].wait != nil || len(w.deletes) == enough {
		c.sendDeletes(w)
		return false
	}
	if w.deleteTimer == 0 {
		w.deleteTimer = c.after(shortDelay, deletesDue{r.queue.path.path, r.queue.name})
	}
	w.deletes = append(w.deletes, ch)
	return true
}

// startRow bounds how long creates wait.
func (c *Coordinator) startRow(q *ownQueue, delay time.Duration) {
	c.stop(q.row.timer)
	q.row.timer = c.after(delay, rowDue{q.path.path, q.name})
}

// rowDue says that creates have waited for long enough, deletesDue that deletes have.
type (
	rowDue     struct{ path, name string }
	deletesDue struct{ path, name string }
)

func (d rowDue) fires(c *Coordinator) {
	if q := c.epoch.paths[d.path].named(d.name); q != nil {
		q.row.timer = 0
		c.sendRow(q)
	}
}

func (d deletesDue) fires(c *Coordinator) {
	if q := c.epoch.paths[d.path].named(d.name); q != nil {
		q.row.deleteTimer = 0
		c.sendDeletes(&q.row)
		c.flush()
	}
}

// named gives the queue of a name, where that is in use.
func (p *lockPath) named(name string) *ownQueue {
	if p == nil {
		return nil
	}
	for _, q := range p.queues {
		if q.name == name && q.one == "" {
			return q
		}
	}
	return nil
}

// sendDeletes sends those that have gathered with the next transaction.
func (c *Coordinator) sendDeletes(w *row) {
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, w.deletes...)
	w.deletes = nil
	c.stop(w.deleteTimer)
	w.deleteTimer = 0
}

// sendRow sends what has gathered. A turn that was over is forgotten with it.
func (c *Coordinator) sendRow(q *ownQueue) {
	w := &q.row
	c.stop(w.timer)
	c.sendDeletes(w)
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, w.creates...)
	w.creates, w.timer = nil, 0
	if w.turn == turnOver {
		w.turn, w.departed, w.back = noTurn, 0, 0
	}
	c.flush()
}

// goRemote notes that a request waits for a node of another session.
func (c *Coordinator) goRemote(r *request) {
	if w := &r.queue.row; r.spec.exclusive() && !r.wait.remote {
		r.wait.remote = true
		w.remote++
		w.turn, w.departed, w.back = noTurn, 0, 0
		if len(w.deletes) > 0 {
			c.sendDeletes(w)
			c.flush()
		}
	}
}

// comeBack notes that it does not any more. When the last does not, the session has its turn.
func (c *Coordinator) comeBack(q *ownQueue) {
	if q.row.remote--; q.row.remote > 0 {
		return
	}
	q.row.turn, q.row.departed, q.row.back = myTurn, 0, len(q.row.creates)
	if len(q.nodes) == 0 { // given up, all of them
		c.endTurn(q)
	}
}

// handsOn notes that the lock goes from one node of the session to the next.
func (w *row) handsOn() {
	if w.turn == noTurn || w.turn == turnOver {
		w.turn, w.departed, w.back = atHome, 0, len(w.creates)
	}
}

// rowDeparted notes that a node of this session has gone.
func (c *Coordinator) rowDeparted(q *ownQueue) {
	if q.row.turn == noTurn {
		return
	}
	if q.row.departed++; len(q.nodes) == 0 {
		c.endTurn(q)
	}
}

func (c *Coordinator) endTurn(q *ownQueue) {
	if q.row.turn != turnOver {
		q.row.turn = turnOver
		c.epoch.overRows = append(c.epoch.overRows, q)
	}
}

// endRows looks at the turns that an input has brought to an end: when all have come back their creates go, and a turn of one
// who does not come back at once is none. The others are not waited for for long.
func (c *Coordinator) endRows() {
	for _, q := range slices.Clone(c.epoch.overRows) {
		if q.row.turn == turnOver && (q.row.complete() || len(q.row.creates) == 0 && q.row.departed < 2) {
			c.sendRow(q)
		} else if q.row.turn == turnOver {
			c.startRow(q, shortDelay)
		}
	}
	c.epoch.overRows = nil
}
