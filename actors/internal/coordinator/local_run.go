package coordinator

import (
	"slices"
	"time"
)

// Local runs. Where several sessions queue for one lock, a hand-off to another session takes a
// delete and an event. One within the session takes neither, so a session gains by nodes that are
// neighbours. Workers that ask again one by one, each when it has given the lock back, would never
// be neighbours. So changes to a queue are delayed, by runDelay at most, and by a fifth of that
// where another session may wait for them:
//
//   - creates, while the session waits for a remote predecessor, and while its local run then lasts, until the run is
//     over and as many have returned as have left in it. Where no other session was met they are delayed only when a run
//     is over, for as long as that takes, because the lock is free then;
//   - the deletes of a run, until its last delete: the lock has been handed on already, and waiters
//     of other sessions wait for the last node only. Deletes are delayed only after holds so short
//     that the next are likely to be as short.
//
// The order of the queue stays the order of the nodes. A request that only tries is not delayed.

// runDelay bounds how long a change waits for others. With four processes of eight workers local runs are worth three
// to four times as many grants (workload processes of tests/bench).
const runDelay = 5 * time.Millisecond

// shortDelay is the part of it for which somebody else may be kept waiting: when a run is over the lock is free, or
// another session waits for the deletes.
const shortDelay = runDelay / 5

// delaysCreates reports whether creates wait for each other.
func (run *localRun) delaysCreates() bool {
	return run.remote > 0 || run.phase == running || run.phase == runOver
}

// complete reports whether all whom it makes sense to wait for have returned.
func (run *localRun) complete() bool { return run.phase == runOver && run.returned >= run.departed }

// begin begins a phase in which nobody has left yet, and so many have returned.
func (run *localRun) begin(phase runPhase, returned int) {
	run.phase, run.departed, run.returned = phase, 0, returned
}

// delayCreate keeps a create back until others come; false where it is to go at once.
func (c *Coordinator) delayCreate(ch change) bool {
	r := c.requests[ch.request]
	run := &r.queue.run
	if !r.spec.exclusive() || r.spec.Want.WatchAll || r.spec.Want.Try ||
		r.spec.sharesNode() { // of a cohort one node queues
		return false
	}
	if run.phase != noRun {
		run.returned++
	}
	if !run.delaysCreates() {
		return false
	}
	if run.timer == 0 {
		c.boundRun(r.queue, runDelay)
	}
	run.creates = append(run.creates, ch)
	if len(run.creates) == enough || run.complete() {
		c.sendRun(r.queue)
	}
	return true
}

// delayDelete keeps a delete back until the last delete of its run; false where it is to go at
// once, together with the deletes that were kept back.
func (c *Coordinator) delayDelete(ch change) bool {
	r := c.requests[ch.request]
	run := &r.queue.run
	next := r.node.nextHolder()
	if run.phase == noRun || !r.removal.shortHold || len(run.deletes) == enough ||
		next == nil || c.requests[next.users[0]].wait != nil {
		c.batchDeletes(run)
		return false
	}
	if run.deleteTimer == 0 {
		run.deleteTimer = c.after(shortDelay, timer{kind: DeletesTimer, path: r.queue.path.path, queue: r.queue.name})
	}
	run.deletes = append(run.deletes, ch)
	return true
}

// boundRun bounds how long creates wait.
func (c *Coordinator) boundRun(q *ownQueue, delay time.Duration) {
	c.stop(q.run.timer)
	q.run.timer = c.after(delay, timer{kind: CreatesTimer, path: q.path.path, queue: q.name})
}

// delayOver sends what has waited for long enough.
func (c *Coordinator) delayOver(t timer) {
	switch q := c.epoch.paths[t.path].queueNamed(t.queue, ""); {
	case q == nil:
	case t.kind == CreatesTimer:
		c.sendRun(q)
	default:
		c.batchDeletes(&q.run)
		c.flush()
	}
}

// batchDeletes has the deletes that were delayed go with the next transaction.
func (c *Coordinator) batchDeletes(run *localRun) {
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, run.deletes...)
	run.deletes = nil
	c.stop(run.deleteTimer)
	run.deleteTimer = 0
}

// sendRun sends what was delayed. A run that was over is forgotten with it.
func (c *Coordinator) sendRun(q *ownQueue) {
	run := &q.run
	c.stop(run.timer)
	c.batchDeletes(run)
	c.epoch.batch.waiting = append(c.epoch.batch.waiting, run.creates...)
	run.creates, run.timer = nil, 0
	if run.phase == runOver {
		run.begin(noRun, 0)
	}
	c.flush()
}

// waitRemotely notes that a request waits for a node of another session.
func (c *Coordinator) waitRemotely(r *request) {
	if run := &r.queue.run; r.spec.exclusive() && !r.wait.remote {
		r.wait.remote = true
		run.remote++
		run.begin(noRun, 0)
		if len(run.deletes) > 0 {
			c.batchDeletes(run)
			c.flush()
		}
	}
}

// endRemoteWait notes that a request of the queue does not any more. With the last of them the local run begins.
func (c *Coordinator) endRemoteWait(q *ownQueue) {
	if q.run.remote--; q.run.remote > 0 {
		return
	}
	q.run.begin(running, len(q.run.creates))
	if len(q.nodes) == 0 { // given up, all of them
		c.endRun(q)
	}
}

// handsOn notes that the lock goes from one node of the session to the next.
func (run *localRun) handsOn() {
	if run.phase == noRun || run.phase == runOver {
		run.begin(unmet, len(run.creates))
	}
}

// departed notes that a node of this session has gone.
func (c *Coordinator) departed(q *ownQueue) {
	if q.run.phase == noRun {
		return
	}
	if q.run.departed++; len(q.nodes) == 0 {
		c.endRun(q)
	}
}

func (c *Coordinator) endRun(q *ownQueue) {
	if q.run.phase != runOver {
		q.run.phase = runOver
		c.epoch.runsOver = append(c.epoch.runsOver, q)
	}
}

// endRuns looks at the runs that an input has brought to an end: when all have returned their creates go, and a run of
// one request that does not return at once is not a run. The others are not waited for for long.
func (c *Coordinator) endRuns() {
	for _, q := range c.epoch.runsOver {
		if q.run.phase == runOver && (q.run.complete() || len(q.run.creates) == 0 && q.run.departed < 2) {
			c.sendRun(q)
		} else if q.run.phase == runOver {
			c.boundRun(q, shortDelay)
		}
	}
	c.epoch.runsOver = nil
}

// submit takes a change. It is sent at once when nothing is under way, by itself where it cannot share a transaction.
func (c *Coordinator) submit(ch change) {
	r := c.requests[ch.request]
	switch {
	case !c.fast(GroupCommit), r.pace != nil && r.pace.orders.isSuspect(), ch.node == "" && r.spec.Want.Reclaim != "":
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

// unsubmit takes a create back that has not been sent.
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
	r.queue.run.creates = drop(r.queue.run.creates)
	r.queue.path.lookup.waiting = drop(r.queue.path.lookup.waiting)
	return found
}
