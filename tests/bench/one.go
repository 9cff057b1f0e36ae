package main

import (
	"context"
	"strings"
	"time"
)

// one is workers of one session that compete for one lock.
var one = workload{
	name: "one", per: "workers on one lock, one session", sizes: []int{2, 16, 128, 1024}, quick: []int{3},
	metrics: append([]metric{
		{"one", "hand-offs/s", more, "Workers of one session on one lock"},
		{"one-p50", "µs", less, "Hand-off within a session: from Unlock to the next holder's Lock, median"},
		{"one-p99", "µs", less, "Hand-off within a session, 99th percentile"},
		{"one-packets", "packets/hand-off", less, "Packets from clients for a hand-off within a session"},
	}, processorMetrics("one", "hand-off", "Hand-off within a session")...),
	floor: bareExists, bare: existsRoundTrip,
	batched: func(ctx context.Context, t trial) (figures, error) {
		return oneFigures(t.together(ctx, openBatched(t.n), nil))
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return oneFigures(t.together(ctx, open, newGuard()))
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		return oneFigures(t.counted(ctx, func() (tally, error) { return other.contest(ctx, t, contestJob{threads: t.n}) }))
	},
}

// cohortGrants is the number of grants in a row inside a session, in workload cohort.
const cohortGrants = 64

// fewGrants is the number of grants in a row inside a session where sessions compete.
const fewGrants = 16

// cohort is the same where up to cohortGrants grants in a row pass inside the session. Its floor is a bare program that hands
// one node over in memory as often.
var cohort = workload{
	name: "cohort", per: "workers on one lock, one session, up to 64 grants in a row", sizes: []int{16, 128, 1024}, quick: []int{3},
	metrics: append([]metric{
		{"cohort", "hand-offs/s", more, "Workers of one session on one lock, in cohorts"},
		{"cohort-p50", "µs", less, "Hand-off within a cohort, median"},
		{"cohort-p99", "µs", less, "Hand-off within a cohort, 99th percentile"},
		{"cohort-packets", "packets/hand-off", less, "Packets from clients for a hand-off within a cohort"},
	}, processorMetrics("cohort", "hand-off", "Hand-off within a cohort")...),
	floor: inMemory, ours: openCohort(cohortGrants),
	bare: func(ctx context.Context, t trial) (figures, error) {
		return cohortFigures(oneFigures(t.together(ctx, openInMemory(cohortGrants), newGuard())))
	},
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return cohortFigures(oneFigures(t.together(ctx, open, newGuard())))
	},
}

// cohortFigures gives figures of workload one the names of workload cohort.
func cohortFigures(found figures, err error) (figures, error) {
	named := figures{}
	for name, value := range found {
		if after, is := strings.CutPrefix(name, "one"); is {
			name = "cohort" + after
		}
		named[name] = value
	}
	return named, err
}

// growth is the same, of Turnstile alone, in sizes that other locks would be too slow for.
var growth = workload{
	name: "growth", per: "workers on one lock, one session", sizes: []int{16, 128, 1024, 10_000}, quick: []int{2, 8}, growth: true,
	metrics: append([]metric{
		{"growth", "µs/hand-off", less, "Cost of a hand-off within a session, by the length of the queue"},
		{"growth-packets", "packets/hand-off", neither, "Packets from clients for a hand-off, by the length of the queue"},
	}, processorMetrics("growth", "hand-off", "Hand-off within a session, by the length of the queue")...),
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		got, err := t.together(ctx, open, newGuard())
		if err != nil {
			return nil, err
		}
		found := figures{"growth": micros(got.elapsed) / float64(got.counted), "growth-packets": got.packets()}
		got.spent.put(found, "growth")
		return found, nil
	},
}

// together has n workers of one session lock one lock. The guard is nil for a workload that keeps nobody out.
func (t trial) together(ctx context.Context, open opener, g *guard) (tally, error) {
	return t.counted(ctx, func() (tally, error) {
		sessions, err := openAll(ctx, open, t.stage.connects(1), timeout)
		if err != nil {
			return tally{}, err
		}
		defer closeAll(sessions)
		return crowd{sessions: sessions, workers: t.n, path: onePath(t.path), guard: oneGuard(g),
			timed: warmThenCount(t.o.warm, t.o.span), clocks: t.clocks()}.run(ctx)
	})
}

func oneFigures(got tally, err error) (figures, error) {
	if err != nil {
		return nil, err
	}
	found := figures{"one": float64(got.counted) / got.elapsed.Seconds(), "one-packets": got.packets(), allGrants: float64(got.all)}
	got.spent.put(found, "one")
	if got.handed > 0 {
		found["one-p50"], found["one-p99"] = micros(got.p50), micros(got.p99)
	}
	return found, nil
}

// existsRoundTrip is the measure of hand-offs: how long an Exists takes when nothing else runs.
func existsRoundTrip(ctx context.Context, t trial) (figures, error) {
	c, err := connect(ctx, t.stage.connect(0), timeout)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var took []time.Duration
	ask := func(d time.Duration) error {
		for begin := time.Now(); (len(took) == 0 || time.Since(begin) < d) && ctx.Err() == nil; {
			at := time.Now()
			if _, _, err := c.Exists(t.path); err != nil {
				return err
			}
			took = append(took, time.Since(at))
		}
		return context.Cause(ctx)
	}
	if err := ask(t.o.warm); err != nil {
		return nil, err
	}
	took = nil
	if err := ask(t.o.span); err != nil {
		return nil, err
	}
	return figures{"one-p50": micros(percentile(took, 50)), "one-p99": micros(percentile(took, 99))}, nil
}

// counted adds the servers' count of packets to a crowd's tally. Warm-up, opening and closing are in both the
// packets and the grants.
func (t trial) counted(ctx context.Context, run func() (tally, error)) (tally, error) {
	before, err := t.stage.packets(ctx)
	if err != nil {
		return tally{}, err
	}
	got, err := run()
	if err == nil {
		err = got.enough()
	}
	if err != nil {
		return tally{}, err
	}
	after, err := t.stage.packets(ctx)
	got.received = after - before
	return got, err
}

// packets is the number of packets that the servers received for each grant.
func (t tally) packets() float64 { return float64(t.received) / float64(t.all) }
