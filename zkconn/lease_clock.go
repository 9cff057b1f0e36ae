package zkconn

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// LeaseClock says until when a session is certain to live at the servers. Its Conn extends it, by
// the rule of package evidence. Any goroutine may read it, without a lock.
//
// A run is a stretch of time in which the lease was valid without a gap. What was relied on in one
// run is lost when the run is over, though the same session may begin another: Unbroken tells the
// runs apart. A run that was seen to be over stays over.
//
// The clock counts the time for which the machine was suspended, because the servers' clocks do.
type LeaseClock struct {
	base      time.Time
	suspended func(now time.Time) time.Duration
	state     atomic.Pointer[leaseState]
}

// instant is a point on the time line of one LeaseClock: nanoseconds since the clock was made.
type instant = evidence.Instant

// leaseState is replaced as a whole.
type leaseState struct {
	run      uint64
	valid    bool    // until the deadline; false once it was seen to have passed
	deadline instant // of this run, or, where none has begun, of the last
	had      bool    // there is a deadline
	ended    bool
}

// NewLeaseClock makes a clock without a lease. suspended gives for how long the machine has been
// suspended since some moment, and never less than before. nil stands for the system's clocks.
func NewLeaseClock(suspended func() time.Duration) *LeaseClock {
	l := &LeaseClock{base: time.Now()}
	if suspended == nil {
		l.suspended = systemSuspended()
	} else {
		l.suspended = func(time.Time) time.Duration { return suspended() }
	}
	l.state.Store(&leaseState{run: 1})
	return l
}

// now reads the system's clocks once: the lease is looked at several times in every hand-off.
func (l *LeaseClock) now() instant {
	now := time.Now()
	return instant(now.Sub(l.base) + l.suspended(now))
}

func (l *LeaseClock) at(t time.Time) instant { return instant(t.Sub(l.base) + l.suspended(time.Now())) }

// Extend moves the deadline to a later time. It begins a new run when the lease has run out. It does nothing for a time
// that has passed, for one before the deadline, and after End.
func (l *LeaseClock) Extend(until time.Time) { l.extend(l.at(until)) }

// Elapsed gives the time since the clock was made, time in which the machine was suspended
// included.
func (l *LeaseClock) Elapsed() time.Duration { return time.Duration(l.now()) }

// ExtendTo is Extend to a time by this clock: one that Elapsed will give. A time that was read with
// Elapsed stays right when the machine is suspended; one that was read with time.Now does not.
func (l *LeaseClock) ExtendTo(elapsed time.Duration) { l.extend(instant(elapsed)) }

func (l *LeaseClock) extend(until instant) {
	for {
		old, now := l.look()
		if old.ended || until <= now || old.valid && until <= old.deadline {
			return
		}
		if l.state.CompareAndSwap(old, &leaseState{run: old.run, valid: true, had: true, deadline: until}) {
			return
		}
	}
}

// shorten moves the deadline to an earlier time: the servers may end the session sooner than was known.
func (l *LeaseClock) shorten(until instant) {
	for {
		old, _ := l.look()
		if !old.valid || until >= old.deadline {
			return
		}
		if l.state.CompareAndSwap(old, &leaseState{run: old.run, valid: true, had: true, deadline: until}) {
			return
		}
	}
}

// End takes the lease away for good: the session is over.
func (l *LeaseClock) End() {
	for {
		old := l.state.Load()
		if old.ended || l.state.CompareAndSwap(old, &leaseState{run: old.run + 1, ended: true}) {
			return
		}
	}
}

// look gives the state as of now. The first to see that a deadline has passed notes it: nobody sees the lease valid
// again in that run.
func (l *LeaseClock) look() (*leaseState, instant) {
	for {
		now, old := l.now(), l.state.Load()
		if !old.valid || now < old.deadline {
			return old, now
		}
		over := &leaseState{run: old.run + 1, had: true, deadline: old.deadline}
		if l.state.CompareAndSwap(old, over) {
			return over, now
		}
	}
}

// Look gives the run, and whether the lease is valid. While it is not, the run is the one that a
// later lease begins.
func (l *LeaseClock) Look() (run uint64, valid bool) {
	state, _ := l.look()
	return state.run, state.valid
}

// LookAhead is Look that also gives how long the lease still lasts: negative when it is over or
// there never was one.
func (l *LeaseClock) LookAhead() (run uint64, valid bool, left time.Duration) {
	state, now := l.look()
	if !state.had {
		return state.run, state.valid, math.MinInt64
	}
	return state.run, state.valid, time.Duration(state.deadline - now)
}

// Valid says whether the lease runs now.
func (l *LeaseClock) Valid() bool {
	_, valid := l.Look()
	return valid
}

// Unbroken says whether the lease runs now and has run without a gap since Look gave this run: what was relied on then
// may be relied on now. Once false it stays false.
func (l *LeaseClock) Unbroken(run uint64) bool {
	now, valid := l.Look()
	return valid && now == run
}

// Deadline gives the end of the lease. It is a time in the past when the lease is over, and zero
// when there never was one and after End. A machine that is suspended before then reaches it
// sooner.
func (l *LeaseClock) Deadline() time.Time {
	state, _ := l.look()
	if !state.had {
		return time.Time{}
	}
	return l.base.Add(time.Duration(state.deadline) - l.suspended(time.Now()))
}
