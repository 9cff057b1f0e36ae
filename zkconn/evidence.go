package zkconn

import (
	"slices"
	"time"
)

// evidence is what one connection shows of when the leader heard of its session. See the package doc, "The lease", for
// the rule and its proof.
type evidence struct {
	half   time.Duration // within which the leader has sent a ping, for certain
	settle time.Duration // what a ping may be late by
	grain  time.Duration // round trips closer to each other than this are not told apart
	opened roundTrip     // of the connect request
	trips  []roundTrip   // the others, in order; as many as matter
}

// roundTrip is a request that went by way of the leader and was answered.
type roundTrip struct {
	touched  instant // when the packet before it was sent: both touched the session
	sent     instant
	answered instant
}

// The rule's fractions of the session timeout.
const (
	// halfTick is the longest half tick that servers allow for: a session timeout is two ticks at least.
	halfTick = 1.0 / 4
	// lateness is what is added for a leader's ping that is late, and waited for before a transaction counts.
	lateness = 1.0 / 24
	// margin is what is taken off the session timeout: for clocks that do not go equally fast, and for what a system
	// takes to act on a deadline.
	margin = 1.0 / 10
	// rounding is the grain of round trips.
	rounding = 1.0 / 64
)

// SteadyLease is the part of the session timeout for which a lease runs from the sending of a
// heartbeat, at a steady rate of one heartbeat every T/6 and with short round trips. The third
// heartbeat before it, T/2 earlier, is Y (see the package doc), and the margin is T/10: 1 − 1/2 −
// 1/10.
const SteadyLease = 0.4

func fractionOf(d time.Duration, f float64) time.Duration { return time.Duration(f * float64(d)) }

// newEvidence begins with the answer to a connect request. tick is that of the servers, 0 where it is not known.
func newEvidence(timeout, tick time.Duration, opened roundTrip) evidence {
	half := fractionOf(timeout, halfTick)
	if tick > 0 {
		half = tick / 2
	}
	late := fractionOf(timeout, lateness)
	return evidence{half: half + late, settle: late, grain: fractionOf(timeout, rounding), opened: opened}
}

// since gives the latest time at which the leader is known to have touched the session, or later, once a transaction
// that was sent then has been committed on this connection.
func (e *evidence) since(sent instant) (touched instant, known bool) {
	if sent < e.opened.answered {
		return 0, false
	}
	after := e.last(func(a roundTrip) bool { return a.answered.plus(e.settle) <= sent })
	if after < 0 {
		return e.opened.touched, true
	}
	asked := e.trips[after].sent
	if y := e.last(func(y roundTrip) bool { return y.answered.plus(e.half) <= asked }); y >= 0 {
		return max(e.trips[y].touched, e.opened.touched), true
	}
	return e.opened.touched, true
}

// last finds the newest round trip that fits; -1 where none does. It looks back from the newest, which is among the first
// few dozen.
func (e *evidence) last(fits func(roundTrip) bool) int {
	for i := len(e.trips) - 1; i >= 0; i-- {
		if fits(e.trips[i]) {
			return i
		}
	}
	return -1
}

// add takes note of a round trip. Those that come within a grain of the one before are passed over, and those that are
// older than a session timeout dropped: there is no lease in them.
func (e *evidence) add(t roundTrip) {
	if n := len(e.trips); n > 0 && t.sent < e.trips[n-1].sent.plus(e.grain) {
		return
	}
	if len(e.trips) == cap(e.trips) {
		oldest := t.sent.plus(-64 * e.grain)
		e.trips = slices.DeleteFunc(e.trips, func(old roundTrip) bool { return old.sent < oldest })
	}
	e.trips = append(e.trips, t)
}
