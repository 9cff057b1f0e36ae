package zkconn

import (
	"sync/atomic"
	"time"
)

// wallSuspended counts as suspended the time that the wall clock has gained on the monotonic one.
// It is for systems without a clock that counts suspended time. A wall clock that is set forward
// ends leases early, which is safe. One that is set back while the machine is suspended hides as
// much of the suspension; nothing on such a system shows that.
func wallSuspended() func(now time.Time) time.Duration {
	start := time.Now()
	var most atomic.Int64
	return func(now time.Time) time.Duration {
		// Round(0) strips the monotonic reading: the difference is then between wall clock times.
		return ratchet(&most, now.Round(0).Sub(start.Round(0))-now.Sub(start))
	}
}

// ratchet raises most to gained, never lowers it, and gives the result.
func ratchet(most *atomic.Int64, gained time.Duration) time.Duration {
	for {
		old := most.Load()
		if int64(gained) <= old {
			return time.Duration(old)
		}
		if most.CompareAndSwap(old, int64(gained)) {
			return gained
		}
	}
}
