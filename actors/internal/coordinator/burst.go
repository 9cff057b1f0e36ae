package coordinator

import (
	"slices"
	"time"
)

// Bursts (local runs): nodes of one session that are neighbours in the queue hold one after the other. Where several
// sessions queue for one lock, a hand-off to another session takes a delete and an event. One within the session takes
// neither, so a session gains by neighbours. Workers that ask again one by one, each when it has given
// the lock back, would never be neighbours. So changes to a queue are delayed, by burstDelay at most,
// and by a fifth of that where another session may wait for them:
//
//   - creates, while the session waits for a remote predecessor, and during the burst that follows, until it is over
//     and as many requests have come as nodes have left. Where no other session was met they are delayed only
//     after a burst, because the lock is free then;
//   - the deletes of a burst, until its last delete: the lock has been handed on already, and waiters
//     of other sessions wait for the last node only. Deletes are delayed only after holds so short
//     that the next are likely to be as short.
//
// The order of the queue stays the order of the nodes. A request that only tries is not delayed.

// burstDelay bounds how long a change waits for others. With four processes of eight workers bursts are worth three
// to four times as many grants (workload processes of tests/bench).
const burstDelay = 5 * time.Millisecond

// shortDelay is the part of it for which somebody else may be kept waiting: when a burst is over the lock is free, or
// another session waits for the deletes.
const shortDelay = burstDelay / 5

// complete reports whether a burst is over and at least as many creates have come in it as nodes
// have gone.
func (b *burst) complete() bool { return b.phase == burstOver && b.returned >= b.departed }

// begin begins a phase. returned is the number of creates that wait already. No node has gone yet.
func (b *burst) begin(phase burstPhase, returned int) {
	b.phase, b.departed, b.returned = phase, 0, returned
}

// delayCreate keeps a create back until others come; false where it is to go at once.
func (c *Coordinator) delayCreate(ch change) bool {
	r := c.requests[ch.request]
	b := &r.queue.burst
	if !r.spec.exclusive() || r.spec.Want.WatchAll || r.spec.Want.Try {
		return false
	}
	if b.phase != noBurst {
		b.returned++
	}
	if b.remote == 0 && b.phase != running && b.phase != burstOver {
		return false
	}
	if b.timer == 0 {
		c.boundBurst(r.queue, burstDelay)
	}
	b.creates = append(b.creates, ch)
	if len(b.creates) == enough || b.complete() {
		c.sendBurst(r.queue)
	}
	return true
}

// delayDelete keeps a delete back until the last delete of its burst; false where it is to go at
// once, together with the deletes that were kept back.
func (c *Coordinator) delayDelete(ch change) bool {
	r := c.requests[ch.request]
	b := &r.queue.burst
	next := r.node.nextHolder()
	if b.phase == noBurst || !r.removal.shortHold || len(b.deletes) == enough ||
		next == nil || c.requests[next.of].wait != nil {
		c.batchDeletes(b)
		return false
	}
	if b.deleteTimer == 0 {
		b.deleteTimer = c.after(shortDelay, timer{kind: DeletesTimer, path: r.queue.path.path, queue: r.queue.name})
	}
	b.deletes = append(b.deletes, ch)
	return true
}

func (c *Coordinator) boundBurst(q *ownQueue, delay time.Duration) {
	c.stop(q.burst.timer)
	q.burst.timer = c.after(delay, timer{kind: CreatesTimer, path: q.path.path, queue: q.name})
}

func (c *Coordinator) delayOver(t timer) {
	switch q := c.epoch.paths[t.path].queueNamed(t.queue, ""); {
	case q == nil:
	case t.kind == CreatesTimer:
		c.sendBurst(q)
	default:
		c.batchDeletes(&q.burst)
		c.flush()
	}
}

// batchDeletes has the deletes that were delayed go with the next transaction.
func (c *Coordinator) batchDeletes(b *burst) {
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, b.deletes...)
	b.deletes = nil
	c.stop(b.deleteTimer)
	b.deleteTimer = 0
}

// sendBurst sends the delayed changes of a queue. A burst that is over ends with them.
func (c *Coordinator) sendBurst(q *ownQueue) {
	b := &q.burst
	c.stop(b.timer)
	c.batchDeletes(b)
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, b.creates...)
	b.creates, b.timer = nil, 0
	if b.phase == burstOver {
		b.begin(noBurst, 0)
	}
	c.flush()
}

func (c *Coordinator) waitRemotely(r *request) {
	if b := &r.queue.burst; r.spec.exclusive() && !r.wait.remote {
		r.wait.remote = true
		b.remote++
		b.begin(noBurst, 0)
		if len(b.deletes) > 0 {
			c.batchDeletes(b)
			c.flush()
		}
	}
}

// endRemoteWait notes that a request waits for a node of another session no more. With the last of them the
// burst begins.
func (c *Coordinator) endRemoteWait(q *ownQueue) {
	if q.burst.remote--; q.burst.remote > 0 {
		return
	}
	q.burst.begin(running, len(q.burst.creates))
	if len(q.nodes) == 0 { // given up, all of them
		c.endBurst(q)
	}
}

func (c *Coordinator) departed(q *ownQueue) {
	if q.burst.phase == noBurst {
		return
	}
	if q.burst.departed++; len(q.nodes) == 0 {
		c.endBurst(q)
	}
}

func (c *Coordinator) endBurst(q *ownQueue) {
	if q.burst.phase != burstOver {
		q.burst.phase = burstOver
		c.epoch.burstsOver = append(c.epoch.burstsOver, q)
	}
}

// endBursts looks at the bursts of which the last node has left with this input. Their creates go when as many
// have come as nodes have left. A burst in which one node has left, and no create waits, ends here. Others wait
// for shortDelay.
func (c *Coordinator) endBursts() {
	for _, q := range c.epoch.burstsOver {
		if q.burst.phase == burstOver && (q.burst.complete() || len(q.burst.creates) == 0 && q.burst.departed < 2) {
			c.sendBurst(q)
		} else if q.burst.phase == burstOver {
			c.boundBurst(q, shortDelay)
		}
	}
	c.epoch.burstsOver = nil
}

// submit takes a change. It is sent at once when nothing is under way, by itself where it cannot share a transaction.
func (c *Coordinator) submit(ch change) {
	r := c.requests[ch.request]
	switch {
	case c.off&GroupCommit != 0, r.pace != nil && r.pace.isSuspect(), ch.node == "" && r.spec.Want.Reclaim != "":
		// A suspect would take the others of its transaction with it. Where the new node may be
		// reclaimed, the places behind its own must be free: they become the tokens of the
		// processes that take it over, one after the other.
		c.sendSingly(ch, false)
	case ch.node == "" && (c.lookUpPath(ch) || c.delayCreate(ch)), ch.node != "" && c.delayDelete(ch):
	default:
		c.epoch.batch.waiting = append(c.epoch.batch.waiting, ch)
		c.flush()
	}
}

// lookUpPath carries out a create by itself where the lock path is not known to be there, or is a
// semaphore's. The first create of a path finds out; creates that come meanwhile wait, so that they
// can share a transaction.
func (c *Coordinator) lookUpPath(ch change) bool {
	r := c.requests[ch.request]
	p := r.queue.path
	as := creation{operation: ch.operation, looksUp: !p.info.Exists}
	switch {
	case p.info.Exists && r.spec.Permits == 0:
		return false
	case p.lookup.underway:
		p.lookup.waiting = append(p.lookup.waiting, ch)
	default:
		p.lookup.underway = as.looksUp
		c.createSingly(as)
	}
	return true
}

func (c *Coordinator) unsubmit(r *request) bool {
	found := false
	drop := func(from []change) []change {
		return slices.DeleteFunc(from, func(ch change) bool {
			mine := ch.request == r.id && ch.node == ""
			found = found || mine
			return mine
		})
	}
	c.epoch.batch.waiting = drop(c.epoch.batch.waiting)
	r.queue.burst.creates = drop(r.queue.burst.creates)
	r.queue.path.lookup.waiting = drop(r.queue.path.lookup.waiting)
	return found
}
