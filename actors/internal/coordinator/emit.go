package coordinator

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

func (c *Coordinator) emit(out Output) { c.out = append(c.out, out) }

// ask asks the servers; the reply finds its way by its purpose.
func (c *Coordinator) ask(what Query, purpose purpose) uint64 {
	c.numbers++
	c.epoch.asked[c.numbers] = purpose
	c.emit(&Ask{ID: c.numbers, Query: what})
	return c.numbers
}

func (c *Coordinator) after(d time.Duration, what timer) uint64 {
	c.numbers++
	c.epoch.timers[c.numbers] = what
	c.emit(StartTimer{Timer: c.numbers, After: d})
	return c.numbers
}

// stop stops a timer; zero stands for no timer.
func (c *Coordinator) stop(timer uint64) {
	if _, runs := c.epoch.timers[timer]; runs {
		delete(c.epoch.timers, timer)
		c.emit(StopTimer{timer})
	}
}

func (c *Coordinator) tell(r *request, ev machine.Event) {
	if r.life != ended {
		c.emit(&Tell{To: r.id, Event: ev})
	}
}

func (c *Coordinator) tellAll(ev machine.Event) {
	for _, r := range c.inOrder() {
		c.tell(r, ev)
	}
}

// inOrder lists the requests in the order in which they came, so that the outputs follow from the
// inputs, and not from the order of a map.
func (c *Coordinator) inOrder() []*request {
	return slices.SortedFunc(maps.Values(c.requests), func(a, b *request) int { return cmp.Compare(a.id, b.id) })
}

// park keeps an order until there is a connection.
func (c *Coordinator) park(r *request, e machine.Effect) {
	c.epoch.parked = append(c.epoch.parked, parked{r.id, e})
}

// unpark drops the orders of a request that wait; it reports whether one was a create.
func (c *Coordinator) unpark(r *request) (creates bool) {
	c.epoch.parked = slices.DeleteFunc(c.epoch.parked, func(p parked) bool {
		creates = creates || p.request == r.id && p.effect.Do == machine.Create
		return p.request == r.id
	})
	return creates
}

func reason(f Failure) messages.Reason {
	switch f.Cause {
	case NoAuth:
		return messages.ReasonNoAuth
	case OverQuota:
		return messages.ReasonQuota
	case LocalSession:
		return messages.ReasonLocalSession
	}
	return messages.ReasonRefused
}

// failed is the event for an operation that has failed, where nothing more is to be said.
func failed(op uint64, f Failure) machine.Event {
	if f.Outcome == Refused {
		return machine.Event{Kind: machine.Refused, Op: op, Reason: reason(f), Detail: f.Detail}
	}
	return machine.Event{Kind: machine.Unknown, Op: op, Detail: f.Detail}
}
