package lease

import (
	"slices"
	"time"
)

// Instant is a point on the time line of one process: the time since some moment.
type Instant = time.Duration

// The rule's fractions of the session timeout.
const (
	// halfTick is the longest half tick that servers allow for: a session timeout is two ticks at
	// least.
	halfTick = 1.0 / 4
	// Lateness bounds how late a leader's ping may be: see the package doc.
	Lateness = 1.0 / 24
	// Margin is taken off the session timeout, for clocks that do not go equally fast, and for the
	// time to act.
	Margin = 1.0 / 10
	// rounding is the grain of round trips: two that begin within it count as one.
	rounding = 1.0 / 64
)

// Fraction gives a part of a duration.
func Fraction(d time.Duration, f float64) time.Duration { return time.Duration(f * float64(d)) }

// Good gives the time for which a touch keeps a session alive: the session timeout less the margin.
func Good(timeout time.Duration) time.Duration { return timeout - Fraction(timeout, Margin) }

type trips struct {
	half   time.Duration // within which the leader has certainly sent a ping
	settle time.Duration // by which a ping may be late
	grain  time.Duration // closer round trips are not told apart
	opened trip
	all    []trip // the others that matter, in order
}

type trip struct {
	touched  Instant // when the packet before it was sent: both touched the session
	sent     Instant
	answered Instant
}

// newTrips begins with the answer to a connect request. tick is the servers' tick, 0 for not known.
func newTrips(timeout, tick time.Duration, opened trip) trips {
	half := Fraction(timeout, halfTick)
	if tick > 0 {
		half = tick / 2
	}
	late := Fraction(timeout, Lateness)
	return trips{half: half + late, settle: late, grain: Fraction(timeout, rounding), opened: opened}
}

// since gives the latest instant at or after which the leader is known to have touched the session,
// once a request by way of the leader, sent then, has been answered on this connection.
func (e *trips) since(sent Instant) (touched Instant, known bool) {
	if sent < e.opened.answered {
		return 0, false
	}
	after := e.last(func(a trip) bool { return a.answered+e.settle <= sent })
	if after < 0 {
		return e.opened.touched, true
	}
	asked := e.all[after].sent
	if y := e.last(func(y trip) bool { return y.answered+e.half <= asked }); y >= 0 {
		return max(e.all[y].touched, e.opened.touched), true
	}
	return e.opened.touched, true
}

// last finds the newest round trip that fits, or -1. It is among the first few dozen from the end.
func (e *trips) last(fits func(trip) bool) int {
	for i := len(e.all) - 1; i >= 0; i-- {
		if fits(e.all[i]) {
			return i
		}
	}
	return -1
}

// add records a round trip. One within a grain of the one before is passed over. Those older than a
// session timeout are dropped: they prove nothing.
func (e *trips) add(t trip) {
	if n := len(e.all); n > 0 && t.sent < e.all[n-1].sent+e.grain {
		return
	}
	if len(e.all) == cap(e.all) {
		oldest := t.sent - 64*e.grain
		e.all = slices.DeleteFunc(e.all, func(old trip) bool { return old.sent < oldest })
	}
	e.all = append(e.all, t)
}
