package coordinator

import (
	"slices"
	"time"
)

// Rows. Where several sessions queue for one lock, a hand-off to another session takes a delete and an event, and one within
// the session nothing: what counts is how many nodes of a session stand in a row. Workers who come back one by one, each as
// it has given the lock back, would stand one by one for ever. So while a session waits behind another one's node, and while
// it then has its turn, creates gather. They go together when the turn is over and as many have come as have left in it, or
// when rowDelay has passed since the first came.
//
// The order of the queue is that of the nodes, as ever. Who only tries is not made to wait.

// rowDelay bounds how long a create waits for others. Workers that hold for less than this stand in rows: with four
// processes of eight workers that is worth three to four times as many grants (make bench-peers, workload rows).
const rowDelay = 5 * time.Millisecond

// row is where a queue's nodes of this session stand towards those of others.
type row struct {
	turn turn
	// remote counts the requests that wait for a node of another session.
	remote int
	// gathered are the creates that wait for each other, until timer fires.
	gathered []change
	timer    uint64
	// departed counts the nodes that have gone in this turn, back the creates that have gathered by now.
	departed, back int
}

// turn tells whether a session has its turn after another one.
type turn uint8

const (
	noTurn turn = iota
	// myTurn: the last of those that waited for another session does not any more.
	myTurn
	// turnOver: and no node of this session is left in the queue.
	turnOver
)

// gather keeps a create back until others come; false where it is to go at once.
func (c *Coordinator) gather(ch change) bool {
	r := c.requests[ch.request]
	q := r.queue
	if !r.spec.exclusive() || r.spec.Want.WatchAll || r.spec.Want.Try || q.row.remote == 0 && q.row.turn == noTurn {
		return false
	}
	if len(q.row.gathered) == 0 {
		q.row.timer = c.after(rowDelay, rowDue{q.path.path, q.name})
	}
	q.row.gathered = append(q.row.gathered, ch)
	if q.row.turn != noTurn {
		q.row.back++
	}
	if len(q.row.gathered) == enough || q.row.complete() {
		c.sendRow(q)
	}
	return true
}

// complete tells whether all whom it makes sense to wait for are there.
func (w *row) complete() bool { return w.turn == turnOver && w.back >= w.departed }

// rowDue says that creates have waited for long enough.
type rowDue struct{ path, name string }

func (d rowDue) fires(c *Coordinator) {
	for _, q := range c.epoch.pathOf(d.path).queues {
		if q.name == d.name {
			c.sendRow(q)
		}
	}
}

// sendRow sends the creates of a queue that have gathered. The turn is over with them.
func (c *Coordinator) sendRow(q *ownQueue) {
	c.stop(q.row.timer)
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, q.row.gathered...)
	q.row = row{remote: q.row.remote}
	c.flush()
}

// goRemote notes that a request waits for a node of another session.
func (c *Coordinator) goRemote(r *request) {
	if r.spec.exclusive() && !r.wait.remote {
		r.wait.remote = true
		r.queue.row.remote++
		r.queue.row.turn, r.queue.row.departed, r.queue.row.back = noTurn, 0, 0
	}
}

// comeBack notes that it does not any more. When the last does not, the session has its turn.
func (c *Coordinator) comeBack(q *ownQueue) {
	if q.row.remote--; q.row.remote > 0 {
		return
	}
	q.row.turn, q.row.back = myTurn, len(q.row.gathered)
	if len(q.nodes) == 0 { // given up, all of them
		c.endTurn(q)
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
	if q.row.turn == myTurn {
		q.row.turn = turnOver
		c.epoch.overRows = append(c.epoch.overRows, q)
	}
}

// endRows looks at the turns that an input has brought to an end: when all have come back their creates go; a turn of one
// that does not come back at once is none.
func (c *Coordinator) endRows() {
	for _, q := range slices.Clone(c.epoch.overRows) {
		if q.row.complete() || q.row.turn == turnOver && len(q.row.gathered) == 0 && q.row.departed < 2 {
			c.sendRow(q)
		}
	}
	c.epoch.overRows = nil
}
