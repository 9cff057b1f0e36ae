package queue

import (
	"math"

	"github.com/turnstile-locks/turnstile/messages"
)

// WaitsFor tells whether contenders of a kind wait for earlier ones of another: all do, except
// readers for readers. A semaphore's contender waits only while the permits do not suffice.
func WaitsFor(mode, earlier messages.Mode) bool {
	return mode != messages.Read || earlier != messages.Read
}

// earlier are contenders with smaller sequence numbers than the one that is judged, in their order:
// all of them, or those that a question is about.
type earlier[T any] struct {
	permits int // how many there are
	taken   int // how many of them these contenders take
	all     []T
	writers []T // those that readers wait for
}

func (e *earlier[T]) add(contender T, s Style) {
	e.all = append(e.all, contender)
	if WaitsFor(messages.Read, s.Mode) {
		e.writers = append(e.writers, contender)
	}
	e.taken += s.takes(e.permits)
}

// keepOut is the rule of who waits for whom. It gives the contenders that one of style s waits for,
// and whether they keep it out. A semaphore's contender may be kept out by nobody: it needs more
// permits than there are.
func (e *earlier[T]) keepOut(s Style) (by []T, out bool) {
	switch s.Mode {
	case messages.Semaphore:
		return e.all, e.taken+s.Weight > e.permits
	case messages.Read:
		return e.writers, len(e.writers) > 0
	default:
		return e.all, len(e.all) > 0
	}
}

// takes is how many permits a contender takes; one of another kind than a semaphore's takes all.
func (s Style) takes(permits int) int {
	if s.Mode == messages.Semaphore {
		return s.Weight
	}
	return min(max(permits, 1), math.MaxInt32)
}
