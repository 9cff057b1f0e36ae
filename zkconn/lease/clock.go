package lease

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Clock knows until when a session is certain to live at the servers: the local lease that
// prevents a split brain. A Keeper extends it. Any goroutine may
// read it, without a lock.
//
// A term is a stretch of time in which the lease was valid without a gap. A hold belongs to one
// term and is lost at its end, even if the same session begins another, as after an idle time:
// Unbroken tells terms apart. A term that was seen to end stays ended. A broken chain of evidence
// ends the clock for good (End). Suspended time counts, because the servers' clocks go on.
type Clock struct {
	base      time.Time
	suspended func(now time.Time) time.Duration
	state     atomic.Pointer[clockState]
	known     atomic.Int64 // what a user's function gave last
	failed    atomic.Bool

	ends  *time.Timer
	mu    sync.Mutex
	armed bool // ends runs, for the followers
	terms map[TermFollower]uint64
}

// clockState is replaced as a whole.
type clockState struct {
	term     uint64
	valid    bool    // until the deadline was seen to pass
	deadline Instant // of this term or, if none has begun, of the last
	had      bool
	ended    bool
	expired  bool
}

// NewClock makes a clock without a lease. suspended gives for how long the machine has been
// suspended since some moment, and never less than before; nil stands for the system's clocks.
func NewClock(suspended func() time.Duration) *Clock {
	l := &Clock{base: time.Now(), terms: map[TermFollower]uint64{}}
	l.ends = time.AfterFunc(math.MaxInt64, l.tellEnds)
	l.ends.Stop()
	if suspended == nil {
		l.suspended = systemSuspended()
	} else {
		l.suspended = func(time.Time) time.Duration { return l.ask(suspended) }
	}
	l.state.Store(&clockState{term: 1})
	return l
}

// ask asks a user's function. Where it panics the lease is over.
func (l *Clock) ask(suspended func() time.Duration) (d time.Duration) {
	defer func() {
		if recover() != nil {
			l.failed.Store(true)
			l.End()
			d = time.Duration(l.known.Load())
		}
	}()
	return ratchet(&l.known, suspended())
}

// soonest gives a time that is not after now, without asking a user's function.
func (l *Clock) soonest() Instant {
	return time.Since(l.base) + time.Duration(l.known.Load())
}

// now reads the system's clocks once, because every hand-off looks at the lease several times.
func (l *Clock) now() Instant {
	now := time.Now()
	return now.Sub(l.base) + l.suspended(now)
}

// Extend moves the deadline to a later time. It begins a new term when the lease has expired. It
// does nothing for a time that has passed, for one before the deadline, and after End.
func (l *Clock) Extend(until time.Time) { l.ExtendTo(until.Sub(l.base) + l.suspended(time.Now())) }

// Elapsed gives the time since the clock was made, suspended time included.
func (l *Clock) Elapsed() time.Duration { return l.now() }

// ExtendTo is Extend to a time by Elapsed, which stays right when the machine is suspended; one
// that was read with time.Now does not.
func (l *Clock) ExtendTo(until time.Duration) { l.set(until, l.now(), true) }

// set moves the deadline to a later time, or unless later to an earlier one: the servers may end the
// session sooner than was known. now is a fresh reading of the clock.
func (l *Clock) set(until, now Instant, later bool) {
	for {
		old := l.readAt(now)
		if old.ended || until <= now && (later || !old.valid) || old.valid && (until == old.deadline || later && until < old.deadline) {
			return
		}
		if l.state.CompareAndSwap(old, &clockState{term: old.term, valid: true, had: true, deadline: until}) {
			if old.valid && until < old.deadline {
				l.ends.Reset(0) // it is armed for a later time
			}
			return
		}
	}
}

// End takes the lease away for good. The owner of the clock tells followers sooner, and knows why:
// they hear of it from here at the deadline.
func (l *Clock) End() { l.end(false) }

// Expire is End, with the session known to be over: followers hear of it at once.
func (l *Clock) Expire() { l.end(true) }

func (l *Clock) end(expired bool) {
	for {
		old := l.state.Load()
		if old.ended {
			return
		}
		if l.state.CompareAndSwap(old, &clockState{term: old.term + 1, ended: true, expired: expired}) {
			if expired { // others may hold already
				l.ends.Reset(0)
			}
			return
		}
	}
}

// Expired reports whether the lease was taken away because the session is over, before the event
// Expired says so. It is false after an earlier End, and where the lease ran out and nobody knows
// more.
func (l *Clock) Expired() bool { return l.state.Load().expired }

// readAt gives the state as of now. The first call after the deadline ends the term, so no later
// call sees the lease valid in it.
func (l *Clock) readAt(now Instant) *clockState {
	for {
		old := l.state.Load()
		if !old.valid || now < old.deadline {
			return old
		}
		over := &clockState{term: old.term + 1, had: true, deadline: old.deadline}
		if l.state.CompareAndSwap(old, over) {
			l.ends.Reset(0) // timers stand still while the machine is suspended
			return over
		}
	}
}

// Term gives the term, and whether the lease is valid. If not, the term is that of the next lease.
func (l *Clock) Term() (term uint64, valid bool) {
	state := l.readAt(l.now())
	return state.term, state.valid
}

// Remaining is Term that also gives how long the lease still lasts: negative when it is over or
// there never was one.
func (l *Clock) Remaining() (term uint64, valid bool, left time.Duration) {
	now := l.now()
	state := l.readAt(now)
	if !state.had {
		return state.term, state.valid, math.MinInt64
	}
	return state.term, state.valid, state.deadline - now
}

// Valid reports whether the lease runs now.
func (l *Clock) Valid() bool {
	_, valid := l.Term()
	return valid
}

// Unbroken reports whether the lease runs, and has run without a gap since Term gave this term: a
// hold of then is still a hold. Once false it stays false.
func (l *Clock) Unbroken(term uint64) bool {
	now, valid := l.Term()
	return valid && now == term
}

// Deadline gives the end of the lease: in the past when it is over, and zero when there never was
// one and after End.
func (l *Clock) Deadline() time.Time {
	state := l.readAt(l.now())
	if !state.had {
		return time.Time{}
	}
	return l.base.Add(state.deadline - l.suspended(time.Now()))
}

// TermFollower is told of the end of a term: see Follow. It must be a pointer.
type TermFollower interface {
	// TermEnded must return at once.
	TermEnded()
}

// Follow tells a follower, once, when the lease has not run without a gap since Term gave this
// term: at the deadline, or sooner where the session is known to be over, on a goroutine of the
// clock, which no user's function holds up. A machine that is suspended beyond the deadline finds
// out at the next look at the clock.
func (l *Clock) Follow(term uint64, follower TermFollower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.terms[follower] = term
	now := l.soonest()
	state := l.readAt(now)
	switch {
	case !state.valid || state.term != term:
		l.ends.Reset(0)
	case !l.armed:
		l.arm(state, now)
	}
}

// Unfollow ends Follow. The follower may be told once more if the term ends now.
func (l *Clock) Unfollow(follower TermFollower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.terms, follower)
}

// arm sets the timer to the deadline of a state; l.mu is held. It does not move with each proof:
// when it has fired, a few times in each session timeout, it finds out how long the lease lasts by
// now.
func (l *Clock) arm(state *clockState, now Instant) {
	l.armed = true
	l.ends.Reset(state.deadline - now)
	if l.state.Load() != state { // which may have set the timer before us
		l.ends.Reset(0)
	}
}

func (l *Clock) tellEnds() {
	for _, follower := range l.takeEnded() {
		follower.TermEnded()
	}
}

func (l *Clock) takeEnded() (ended []TermFollower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.armed = false; len(l.terms) == 0 {
		return nil
	}
	now := l.soonest()
	state := l.readAt(now)
	for follower, term := range l.terms {
		if !state.valid || state.term != term {
			ended = append(ended, follower)
			delete(l.terms, follower)
		}
	}
	if len(l.terms) > 0 {
		l.arm(state, now)
	}
	return ended
}
