package lease

import (
	"sync/atomic"
	"time"
)

// wallSuspended counts as suspended the time that the wall clock has gained on the monotonic one,
// for systems without a clock that counts suspended time. A wall clock that is set forward ends
// leases early, which is safe. One that is set back while the machine is suspended hides as much of
// the suspension, and nothing on such a system shows that.
func wallSuspended() func(now time.Time) time.Duration {
	start := time.Now()
	var most atomic.Int64
	return func(now time.Time) time.Duration {
		// Round(0) strips the monotonic reading: the difference is then between wall clock times.
		return ratchet(&most, now.Round(0).Sub(start.Round(0))-now.Sub(start))
	}
}

// answerBound is how long a user's function may take to tell for how long the machine was
// suspended; a healthy one takes microseconds.
const answerBound = time.Second

// Answering asks a function on a goroutine of its own, so that one that blocks holds up nobody for
// longer than answerBound. Without its answer nobody knows the time: the result panics, as the
// function may itself. No other call is made while one is stuck.
func Answering(suspended func() time.Duration) func() time.Duration {
	const stuck = "the function for suspended time does not return"
	var overdue atomic.Pointer[chan struct{}] // closed once the late call has returned
	return func() time.Duration {
		if late := overdue.Load(); late != nil {
			select {
			case <-*late:
			default:
				panic(stuck)
			}
		}
		var d time.Duration
		var failed any = "the function for suspended time has ended its goroutine"
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			defer func() {
				if r := recover(); r != nil {
					failed = r
				}
			}()
			d, failed = suspended(), nil
		}()
		bound := time.NewTimer(answerBound)
		defer bound.Stop()
		select {
		case <-answered:
		case <-bound.C:
			select {
			case <-answered: // this process was paused
			default:
				overdue.Store(&answered)
				panic(stuck)
			}
		}
		if failed != nil {
			panic(failed)
		}
		return d
	}
}

// ratchet raises most to gained, never lowers it, and gives it.
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
