package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// heed counts whether a query was carried out, for the orders that it serves: see pause.go.
func (c *Coordinator) heed(what purpose, answer Answer) {
	f := answer.failure()
	if beat, is := what.(heartbeat); is {
		c.heedBeat(beat, f)
		return
	}
	if f.Outcome == Unknown && f.Trouble != "" {
		c.epoch.beats.others = true
	}
	switch p := what.(type) {
	case creation:
		c.count(p.request, machine.Create, f)
	case seekingLeft:
		if f.Outcome != Applied && f.Outcome != Refused { // else the create follows, and shows it
			c.count(p.request, machine.Create, f)
		}
	case takingOver:
		c.count(p.request, machine.Create, f)
	case transaction:
		for _, ch := range p.changes {
			if ch.node == "" {
				c.count(ch.request, machine.Create, f)
			} else {
				c.count(ch.request, machine.Delete, f)
			}
		}
	case contestRemoval:
		c.count(p.request, machine.Delete, f)
	case listed:
		c.count(p.by, machine.List, f)
	case watchSet:
		c.count(p.request, machine.Watch, f)
	case ownReading:
		c.count(p.request, machine.WatchOwn, f)
	case finding:
		c.count(p.request, machine.Verify, f)
	case removalSearch:
		c.count(p.request, machine.Verify, f)
	}
}

// heedEnd counts the creates that are under way when the session ends, as if each had been hung up on. Waiting of
// servers that keep sessions local have their leader look at a transaction, which says that the session is over: there
// would be three hundred sessions a second.
func (c *Coordinator) heedEnd() {
	for _, r := range c.inOrder() {
		if r.node.phase == creating && r.life == active && !r.pace.waits() {
			text := "the session ends each time that the servers are asked for a node in " + r.spec.Path
			c.count(r.id, machine.Create, Failure{Outcome: Unknown, Trouble: text})
		}
	}
}

// count counts one outcome of an order. What a server puts off waits at once.
func (c *Coordinator) count(id RequestID, do machine.Do, f Failure) {
	r := c.requests[id]
	switch {
	case r == nil || r.life == ended:
	case f.Outcome == Deferred, f.Outcome == Unknown && f.Trouble != "":
		c.failedAgain(r, do, f)
	case r.pace != nil && r.pace.of(do).do == do && (f.Outcome == Applied || f.Outcome == Refused):
		kind := r.pace.of(do)
		if kind.isLate() {
			c.emit(&Trouble{To: r.id, Path: r.spec.Path})
		}
		c.forgive(r, kind)
	}
}

// forgive forgets the failures of a kind of orders. One may wait already: an answer to the order before may come late,
// behind a loss of the connection. It waits no longer.
func (c *Coordinator) forgive(r *request, kind *paced) {
	c.stop(kind.timer)
	*kind = paced{do: kind.do, waiting: kind.waiting}
	switch {
	case kind.waiting.Op != 0:
		kind.timer = c.after(0, timer{kind: PauseTimer, operation: operation{request: r.id}, do: kind.do})
	case r.pace.orders.isNone() && r.pace.searches.isNone():
		r.pace = nil
	}
}

// failedAgain counts a failure.
func (c *Coordinator) failedAgain(r *request, do machine.Do, f Failure) {
	if r.pace == nil {
		r.pace = &pace{}
	}
	kind := r.pace.of(do)
	switch {
	case kind.do == do:
	case kind.timer != 0: // the answer is late, and the request has gone on
		return
	default:
		*kind = paced{do: do}
	}
	kind.failures, kind.deferred, kind.rested = kind.failures+1, f.Outcome == Deferred, false
	if !kind.isLate() {
		return
	}
	what := &Trouble{To: r.id, Path: r.spec.Path, Text: f.Trouble}
	if kind.failures > 1 {
		what.Text = fmt.Sprintf("%s, %d times", f.Trouble, kind.failures)
	}
	c.emit(what)
}
