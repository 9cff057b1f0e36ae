package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// Coordinator decides what a session does for its requests. Make one with New.
type Coordinator struct {
	off Switches
	// timeout is the session timeout that is asked for.
	timeout time.Duration
	// requests are those of this session that have not been forgotten. They outlive epochs.
	requests map[RequestID]*request
	epoch    epoch
	numbers  uint64 // of asks and timers, given so far
	urgent   bool   // it was said that there is a hurry
	stale    int64

	doomed bool     // the session is to end with the input at hand, because a node of it may not be deleted
	at     At       // of the input at hand
	out    []Output // likewise
}

// Switches are fast paths that are switched off.
type Switches uint8

// The switches.
const (
	// GroupCommit has creates and deletes share transactions when there are many, and rows of nodes form.
	GroupCommit Switches = 1 << iota
	// HandOver grants what is given back to the next of the same session before the node is gone.
	HandOver
	// LookAhead has a waiter whose predecessor belongs to another session, and waits itself, find out as soon as that one
	// holds.
	LookAhead
)

// New makes the coordinator of a session whose first epoch is one. timeout is the session timeout that is asked for.
func New(off Switches, timeout time.Duration) *Coordinator {
	return &Coordinator{off: off, timeout: timeout, requests: map[RequestID]*request{}, epoch: newEpoch(1, timeout)}
}

// Epoch is the number of the epoch.
func (c *Coordinator) Epoch() uint64 { return c.epoch.number }

// Stale counts what came for an epoch or an attempt that was over. It only grows.
func (c *Coordinator) Stale() int64 { return c.stale }

// Requests is how many requests there are of which something is left.
func (c *Coordinator) Requests() int { return len(c.requests) }

// Apply takes one input and gives what is to be done, in order. The outputs are valid until the next call.
func (c *Coordinator) Apply(in Input, at At) []Output {
	c.at = at
	clear(c.out)
	c.out = c.out[:0]
	switch in := in.(type) {
	case *Order:
		c.order(in)
	case Ended:
		c.abandon(in.Request)
	case *Reply:
		c.replied(in)
	case Changed:
		c.changed(in)
	case Connected:
		c.connect(in.Timeout)
	case Disconnected:
		c.disconnect()
	case Expired:
		c.expire()
	case Fired:
		c.fired(in.Timer)
	}
	if c.doomed {
		c.doomed = false
		c.expire()
	}
	c.endRows()
	c.hurry()
	return c.out
}

func (c *Coordinator) fast(path Switches) bool { return c.off&path == 0 }

func (c *Coordinator) emit(out Output) { c.out = append(c.out, out) }

// ask asks the servers; the reply finds its way by what it is for.
func (c *Coordinator) ask(what Query, purpose purpose) uint64 {
	c.numbers++
	c.epoch.asked[c.numbers] = purpose
	c.emit(&Ask{ID: c.numbers, Query: what})
	return c.numbers
}

// replied takes an answer to whom it is for.
func (c *Coordinator) replied(reply *Reply) {
	what, asked := c.epoch.asked[reply.ID]
	if !asked {
		c.stale++
		return
	}
	delete(c.epoch.asked, reply.ID)
	what.answered(c, reply.ID, reply.Answer)
}

// purpose is what an answer is for: plain data, that names requests and paths.
type purpose interface {
	answered(c *Coordinator, id uint64, answer Answer)
	// encode writes it; ignored tells whether the answer can change nothing any more.
	encode(c *Coordinator, e *encoder, id uint64)
	ignored(c *Coordinator, id uint64) bool
}

// alarm is what a timer is for: plain data.
type alarm interface {
	fires(c *Coordinator)
	kind() TimerKind
	encode(e *encoder)
}

// after starts a timer.
func (c *Coordinator) after(d time.Duration, what alarm) uint64 {
	c.numbers++
	c.epoch.timers[c.numbers] = what
	c.emit(StartTimer{Timer: c.numbers, After: d})
	return c.numbers
}

// stop stops a timer; zero is none.
func (c *Coordinator) stop(timer uint64) {
	if _, runs := c.epoch.timers[timer]; runs {
		delete(c.epoch.timers, timer)
		c.emit(StopTimer{timer})
	}
}

func (c *Coordinator) fired(timer uint64) {
	if what, runs := c.epoch.timers[timer]; runs {
		delete(c.epoch.timers, timer)
		what.fires(c)
	}
}

// hurry says whether anything is held, when that has changed. A grant of which the session hears only while it is
// disconnected counts too. Waiters are in no hurry, for their nodes last as long as the session.
func (c *Coordinator) hurry() {
	holds := c.epoch.held > 0
	for _, p := range c.epoch.parked {
		holds = holds || p.effect.Do == machine.WatchOwn
	}
	if holds != c.urgent {
		c.urgent = holds
		c.emit(Hurry{holds})
	}
}
