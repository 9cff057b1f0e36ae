package main

import "context"

// uncontended is one worker that nobody competes with.
var uncontended = workload{
	name: "uncontended", per: "workers", sizes: []int{1}, quick: []int{1},
	metrics: append([]metric{{"uncontended", "µs/cycle", less, "A lock and an unlock that nobody competes with"}},
		processorMetrics("uncontended", "cycle", "A lock and an unlock that nobody competes with")...),
	bare: func(ctx context.Context, t trial) (figures, error) {
		return perCycle("uncontended")(t.apart(ctx, openBare))
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return perCycle("uncontended")(t.apart(ctx, open))
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		return perCycle("uncontended")(other.contest(ctx, t, contestJob{threads: 1, apart: true}))
	},
}

// perCycle gives what a cycle takes as a metric, and the processor time of it.
func perCycle(name string) func(tally, error) (figures, error) {
	return func(got tally, err error) (figures, error) {
		if err == nil {
			err = got.enough()
		}
		if err != nil {
			return nil, err
		}
		found := figures{name: micros(got.elapsed) / float64(got.counted), allGrants: float64(got.all)}
		got.spent.put(found, name)
		return found, nil
	}
}
