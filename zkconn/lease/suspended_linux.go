package lease

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// suspendedNoise bounds the error of reading two clocks one after the other. Shorter
	// suspensions are passed over; the margin of the lease covers them.
	suspendedNoise = time.Millisecond
	// suspensionKnown is for how long a reading of the system's clocks is believed at most.
	suspensionKnown = 10 * time.Millisecond
)

// systemSuspended makes a function that gives for how long the machine has been suspended since.
// The servers' clocks go on meanwhile, and so does CLOCK_BOOTTIME; CLOCK_MONOTONIC, which package
// time reads, does not.
func systemSuspended() func(now time.Time) time.Duration {
	start := suspendedSinceBoot()
	for range 4 {
		start = min(start, suspendedSinceBoot()) // each is too great by the time between its two readings
	}
	begun := time.Now()
	s := suspension{
		read: func() time.Duration { return suspendedSinceBoot() - start },
		clocks: func(now time.Time) (wall, monotonic time.Duration) {
			return time.Duration(now.UnixNano() - begun.UnixNano()), now.Sub(begun)
		},
	}
	return s.since
}

// suspension knows for how long the machine has been suspended. To read CLOCK_BOOTTIME takes a
// system call: that was a third of the client's cost of a hand-off. At resume Linux adds the
// suspended time to the wall clock, too (timekeeping_inject_sleeptime), and Go reads the wall clock
// and the monotonic one without a call. So a reading stands while these two have not moved against
// each other, and for suspensionKnown at most: for a wall clock that is set back as far, right
// after the machine was resumed.
type suspension struct {
	read   func() time.Duration                                // by the system's clocks, since the beginning
	clocks func(now time.Time) (wall, monotonic time.Duration) // likewise; now is a fresh reading of time.Now
	newest atomic.Pointer[suspensionRead]
	most   atomic.Int64 // that was given
}

type suspensionRead struct {
	at, drift, suspended time.Duration // the monotonic clock, and by how much the wall clock was ahead of it
}

// since gives for how long the machine has been suspended, and never less than before. now is a
// fresh reading of time.Now.
func (s *suspension) since(now time.Time) time.Duration {
	wall, at := s.clocks(now)
	drift := wall - at
	if r := s.newest.Load(); r != nil && at < r.at+suspensionKnown && (drift-r.drift).Abs() < suspendedNoise {
		return ratchet(&s.most, r.suspended)
	}
	since := s.read()
	for tries := 0; since >= suspendedNoise && tries < 4; tries++ {
		since = min(since, s.read())
	}
	if since < suspendedNoise {
		since = 0
	}
	s.newest.Store(&suspensionRead{at, drift, since})
	return ratchet(&s.most, since)
}

// suspendedSinceBoot is never too small: a pause between the two readings counts as suspended.
func suspendedSinceBoot() time.Duration {
	monotonic := readClock(unix.CLOCK_MONOTONIC)
	return readClock(unix.CLOCK_BOOTTIME) - monotonic
}

// readClock reads a clock that every Linux since 2.6.39 has; the call cannot fail there.
func readClock(id int32) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(id, &t)
	return time.Duration(t.Nano())
}
