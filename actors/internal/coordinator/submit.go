package coordinator

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// submit takes a change. It is sent at once when nothing is under way, by itself where it cannot share a transaction.
func (c *Coordinator) submit(ch change) {
	switch {
	case !c.fast(GroupCommit), c.requests[ch.request].pace.of(machine.Create).isSuspect(), ch.node == "" && c.requests[ch.request].spec.Want.Reclaim != "":
		// A suspect would take the others of its transaction with it. Where what is created may be reclaimed, the places behind it must be its own: they are the tokens of those who
		// take it over, one after the other.
		c.alone(ch, false)
	case ch.node == "" && (c.lookUpPath(ch) || c.delayCreate(ch)), ch.node != "" && c.delayDelete(ch):
	default:
		c.epoch.batch.waiting = append(c.epoch.batch.waiting, ch)
		c.flush()
	}
}

// lookUpPath carries out a create by itself where the lock path is not known to be there, or is a semaphore's. The first that
// comes to a path finds out; those that come meanwhile wait, so that they can share a transaction.
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
		c.createAlone(as)
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
