package main

import (
	"context"
	"errors"
	"fmt"
)

// many is workers of one session with a lock each.
var many = workload{
	name: "many", per: "workers, a lock each, one session", sizes: []int{64, 256, 1024}, quick: []int{4},
	metrics: append([]metric{{"many", "cycles/s", more, "Workers with a lock each, one session"}},
		processorMetrics("many", "cycle", "Workers with a lock each, one session")...),
	bare: func(ctx context.Context, t trial) (figures, error) {
		return perSecond("many")(t.apart(ctx, openBare))
	},
	batched: func(ctx context.Context, t trial) (figures, error) {
		return perSecond("many")(t.apart(ctx, openBatched(t.n)))
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return perSecond("many")(t.apart(ctx, open))
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		return perSecond("many")(other.contest(ctx, t, contestJob{threads: t.n, apart: true}))
	},
}

// apart has n workers of one session lock a lock each.
func (t trial) apart(ctx context.Context, open opener) (tally, error) {
	guards := make([]*guard, t.n)
	for w := range t.n {
		guards[w] = newGuard()
		if err := t.stage.monitor.makePath(t.own(w)); err != nil {
			return tally{}, err
		}
	}
	sessions, err := openAll(ctx, open, t.stage.connects(1), timeout)
	if err != nil {
		return tally{}, err
	}
	defer closeAll(sessions)
	return crowd{sessions: sessions, workers: t.n, path: t.own, guard: func(w int) *guard { return guards[w] },
		timed: warmThenCount(t.o.warm, t.o.span), clocks: t.clocks()}.run(ctx)
}

// own is a worker's own lock path.
func (t trial) own(worker int) string { return fmt.Sprintf("%s/%d", t.path, worker) }

// perSecond gives the grants of a second as a metric, and the processor time of each.
func perSecond(name string) func(tally, error) (figures, error) {
	return func(got tally, err error) (figures, error) {
		if err == nil {
			err = got.enough()
		}
		if err != nil {
			return nil, err
		}
		found := figures{name: float64(got.counted) / got.elapsed.Seconds(), allGrants: float64(got.all)}
		got.spent.put(found, name)
		return found, nil
	}
}

// errTooShort says that there is nothing to compute a figure from.
var errTooShort = errors.New("bench: nothing was granted while it was counted: -span is too short")

func (t tally) enough() error {
	if t.counted == 0 || t.elapsed <= 0 {
		return errTooShort
	}
	return nil
}
