package coordinator

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// heed counts whether a query was carried out, for the orders that it serves: see pause.go.
func (c *Coordinator) heed(what purpose, answer Answer) {
	f := answer.failure()
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

// count counts one outcome of an order. What a server puts off waits at once.
func (c *Coordinator) count(id RequestID, do machine.Do, f Failure) {
	r := c.requests[id]
	switch {
	case r == nil || r.life == ended:
	case f.Outcome == Deferred, f.Outcome == Unknown && f.Trouble != "":
		c.failedAgain(r, do, f)
	case r.pace != nil && r.pace.of(do).do == do && (f.Outcome == Applied || f.Outcome == Refused):
		kind := r.pace.of(do)
		if kind.isSuspect() {
			c.emit(&Trouble{To: r.id, Path: r.spec.Path})
		}
		c.stop(kind.timer)
		if *kind = (paced{}); *r.pace == (pace{}) {
			r.pace = nil
		}
	}
}

// failedAgain counts a failure.
func (c *Coordinator) failedAgain(r *request, do machine.Do, f Failure) {
	if r.pace == nil {
		r.pace = &pace{}
	}
	kind := r.pace.of(do)
	if kind.do != do {
		c.stop(kind.timer)
		*kind = paced{do: do}
	}
	kind.failures, kind.rested = kind.failures+1, false
	if f.Outcome == Deferred {
		kind.failures = max(kind.failures, suspected)
	}
	if kind.isSuspect() {
		c.emit(&Trouble{To: r.id, Path: r.spec.Path, Text: fmt.Sprintf("%s, %d times", f.Trouble, kind.failures)})
	}
}
