package main

import (
	"context"
	"time"
)

// uncontended is one worker that nobody competes with.
var uncontended = workload{
	name: "uncontended", per: "workers", sizes: []int{1}, quick: []int{1},
	metrics: []metric{{"uncontended", "µs/cycle", less, "A lock and an unlock that nobody competes with"}},
	bare: func(ctx context.Context, t trial) (figures, error) {
		return perCycle(t.apart(ctx, openBare))
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return perCycle(t.apart(ctx, open))
	},
	abroad: func(ctx context.Context, t trial, other *abroad) (figures, error) {
		return perCycle(other.contest(ctx, t, contestJob{threads: 1, apart: true}))
	},
}

func perCycle(got tally, err error) (figures, error) {
	if err == nil {
		err = got.enough()
	}
	if err != nil {
		return nil, err
	}
	return figures{"uncontended": got.elapsed.Seconds() * float64(time.Second/time.Microsecond) / float64(got.counted),
		allGrants: float64(got.all)}, nil
}
