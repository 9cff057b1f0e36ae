package zkconn

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspendedNoise is what reading two clocks one after the other may add. Shorter suspensions are passed over; the
// margin of the lease covers them.
const suspendedNoise = time.Millisecond

// systemSuspended makes a function that gives for how long the machine has been suspended since. The servers' clocks go
// on meanwhile, and CLOCK_MONOTONIC, which package time reads, does not; CLOCK_BOOTTIME does.
func systemSuspended() func() time.Duration {
	start := suspendedSinceBoot()
	for range 4 {
		start = min(start, suspendedSinceBoot()) // each is too great by what lies between its two readings
	}
	return func() time.Duration {
		since := suspendedSinceBoot() - start
		for tries := 0; since >= suspendedNoise && tries < 4; tries++ {
			since = min(since, suspendedSinceBoot()-start)
		}
		if since < suspendedNoise {
			return 0
		}
		return since
	}
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
