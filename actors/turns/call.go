package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// callPhase says where a call stands.
type callPhase uint8

const (
	// placing: it is about to wait, or to be answered. Invariant: no call is so between inputs.
	placing callPhase = iota
	// waits: it is in its line. Invariant: hold is nil, or is asked for it.
	waits
	// awaitsOwner: another call of its owner is decided first. Invariant: it has no line and no hold.
	awaitsOwner
	// holds: it has its hold.
	holds
	// revoking: it has its hold, and somebody has asked for the lock.
	revoking
	// ended: its slot is free.
	ended
)

// bound says whether a call with MaxWaiters may wait.
type bound uint8

const (
	unbounded bound = iota // it has no bound, or was let in
	undecided
)

// call is a Lock of a caller, until it has given back.
type call struct {
	id     CallID
	queue  *queue
	line   *line
	want   *Want
	phase  callPhase
	bound  bound
	number uint64 // calls count as they come
	hold   *hold  // that was asked for it, or that it has
	due    time.Duration

	sameOwner  *call // the next call of its owner for this lock, in a circle
	prev, next *call // in its line, or among those that have its hold
}

func (c *call) reads() bool { return c.want.Mode == messages.Read }

func (c *call) has() bool { return c.phase == holds || c.phase == revoking }

// before reports whether c comes first: by priority, then by arrival.
func (c *call) before(other *call) bool {
	if c.want.Priority != other.want.Priority {
		return c.want.Priority > other.want.Priority
	}
	return c.number < other.number
}

// calls is a list that goes through its calls, so that one may leave it from the middle however long it is.
type calls struct {
	first, last *call
	n           int
}

// add puts a call in its place.
func (l *calls) add(c *call) {
	at := l.last
	for at != nil && c.before(at) {
		at = at.prev
	}
	c.prev, c.next = at, l.first
	if at != nil {
		c.next, at.next = at.next, c
	} else {
		l.first = c
	}
	if c.next != nil {
		c.next.prev = c
	} else {
		l.last = c
	}
	l.n++
}

func (l *calls) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.prev, c.next = nil, nil
	l.n--
}
