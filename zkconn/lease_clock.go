package zkconn

import (
	"sync/atomic"
	"time"
)

// DefaultLeaseFraction is the part of the session timeout that an acknowledged transaction is good for: the whole,
// less a third for a gap between frames, less a quarter for half a tick.
const DefaultLeaseFraction = 0.4

// LeaseClock says until when a session is certain to be alive at the servers. It is renewed with the send time of
// acknowledged quorum transactions, the only evidence there is, and read without a lock from any goroutine.
type LeaseClock struct {
	fraction float64
	state    atomic.Pointer[leaseState]
}

// leaseState is replaced as a whole.
type leaseState struct {
	sent     time.Time // of the newest renewal, wall and monotonic; zero when there is none
	begun    time.Time // when this run of renewals without a gap began
	deadline time.Time
	maxJump  time.Duration
	ended    time.Time // renewals sent up to here are of a session that is over
}

// NewLeaseClock makes a clock without a lease. fraction is the part of the session timeout that a renewal is good
// for; one that does not lie between 0 and 1 is replaced by DefaultLeaseFraction.
func NewLeaseClock(fraction float64) *LeaseClock {
	if !(fraction > 0 && fraction < 1) { // written so that NaN is replaced too
		fraction = DefaultLeaseFraction
	}
	l := &LeaseClock{fraction: fraction}
	l.state.Store(&leaseState{})
	return l
}

// Renew moves the deadline to sent plus the fraction of timeout. It never moves it backwards, and a renewal that was
// sent before End is passed over: it is a late reply of the session that ended. sent must carry a monotonic reading.
//
// lapsed tells that the lease had run out before: who relied on it has lost it, though the clock runs again.
func (l *LeaseClock) Renew(sent time.Time, timeout time.Duration) (lapsed bool) {
	if timeout <= 0 {
		return false
	}
	deadline := sent.Add(time.Duration(l.fraction * float64(timeout)))
	for {
		old := l.state.Load()
		if !old.ended.IsZero() && !sent.After(old.ended) || !deadline.After(old.deadline) {
			return false
		}
		renewed := &leaseState{sent: sent, begun: old.begun, deadline: deadline, maxJump: timeout / 4, ended: old.ended}
		if now := time.Now(); !old.validAt(now) {
			renewed.begun, lapsed = now, !old.deadline.IsZero()
		}
		if l.state.CompareAndSwap(old, renewed) {
			return lapsed
		}
		lapsed = false
	}
}

// End takes the lease away until a transaction that is sent later renews it: one of a later session.
func (l *LeaseClock) End() { l.endAt(time.Now()) }

func (l *LeaseClock) endAt(now time.Time) {
	l.state.Store(&leaseState{ended: now})
}

// Deadline gives the end of the lease; zero when there is none.
func (l *LeaseClock) Deadline() time.Time { return l.state.Load().deadline }

// Valid says whether the lease runs now.
func (l *LeaseClock) Valid() bool { return l.ValidAt(time.Now()) }

// ValidAt says whether the lease runs at now, which must carry a monotonic reading. It does not when the deadline has
// passed by the monotonic clock, nor when since the renewal the wall clock has moved by over a quarter of the session
// timeout more or less than the monotonic one, which stands still while a machine is suspended.
func (l *LeaseClock) ValidAt(now time.Time) bool { return l.state.Load().validAt(now) }

// Unbroken says whether the lease runs now and has run without a gap since its deadline was until: what was relied on
// then may be relied on now. A lease that ran out and was renewed is valid, and not unbroken.
func (l *LeaseClock) Unbroken(until time.Time) bool {
	state := l.state.Load()
	return until.After(state.begun) && state.validAt(time.Now())
}

func (s *leaseState) validAt(now time.Time) bool {
	if s.deadline.IsZero() || !now.Before(s.deadline) {
		return false
	}
	// Round(0) strips the monotonic reading: the difference is then that of the wall clock.
	return s.steady(now.Round(0).Sub(s.sent.Round(0)), now.Sub(s.sent))
}

// steady compares what has passed since the renewal by the wall clock and by the monotonic one.
func (s *leaseState) steady(wall, monotonic time.Duration) bool {
	return (wall - monotonic).Abs() <= s.maxJump
}
