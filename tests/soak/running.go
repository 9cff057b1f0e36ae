package main

import (
	"context"
	"sync/atomic"
	"time"
)

// running is a clock that stands still while the process is stopped: a bound on it is not broken by a
// SIGSTOP.
type running struct{ passed atomic.Int64 }

const (
	runningTick = 50 * time.Millisecond
	// A tick that comes later than this was held up by more than a busy machine.
	runningMost = 500 * time.Millisecond
)

// run counts until ctx ends.
func (r *running) run(ctx context.Context) {
	ticks := time.NewTicker(runningTick)
	defer ticks.Stop()
	for last := now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			at := now()
			r.passed.Add(min(at-last, int64(runningMost)))
			last = at
		}
	}
}

// within waits for a value from c for at most d of running time, and says whether it came.
func within[T any](r *running, d time.Duration, c <-chan T) (got T, came bool) {
	ticks := time.NewTicker(max(d/20, runningTick))
	defer ticks.Stop()
	for begin := r.passed.Load(); r.passed.Load()-begin < int64(d); {
		select {
		case got = <-c:
			return got, true
		case <-ticks.C:
		}
	}
	return got, false
}
