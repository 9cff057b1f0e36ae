package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

var uncontended = workload{
	name: "uncontended", per: "workers", sizes: []int{1}, quick: []int{1},
	metrics: append([]metric{{"cost", "µs/cycle", less}}, processorMetrics("cycle")...),
	peers:   append([]peer{apart.in(bareRequests, openBare), apart.in(goZkLock, openZkLock), apart.in(ours, openTurnstile)}, apart.byOthers()...),
}

var many = workload{
	name: "many", per: "workers, a lock each, one session", sizes: []int{64, 256, 1024}, quick: []int{4},
	metrics: append([]metric{{"rate", "cycles/s", more}}, processorMetrics("cycle")...),
	peers: append([]peer{apart.in(bareRequests, openBare), apart.in(batched, nil), apart.in(goZkLock, openZkLock), apart.in(ours, openTurnstile)},
		apart.byOthers()...),
}

var one = workload{
	name: "one", per: "workers on one lock, one session", sizes: []int{2, 16, 128, 1024}, quick: []int{3}, metrics: handOffs,
	peers: append([]peer{{bareExists, existsRoundTrip}, together.in(batched, nil), together.in(goZkLock, openZkLock), together.in(ours, openTurnstile)},
		together.byOthers()...),
}

var handOffs = append([]metric{{"rate", "hand-offs/s", more}, {"p50", "µs", less}, {"p99", "µs", less}, {"packets", "packets/hand-off", less}},
	processorMetrics("hand-off")...)

// Grants in a row inside a session: in workload cohort, where sessions compete, and where no other process wants the lock.
const (
	cohortGrants = 64
	fewGrants    = 16
	manyGrants   = 1000
)

// cohort has a floor: a bare program that hands one node over in memory as often.
var cohort = workload{
	name: "cohort", per: "workers on one lock, one session, up to 64 grants in a row", sizes: []int{16, 128, 1024}, quick: []int{3}, metrics: handOffs,
	peers: []peer{together.in(inMemory, openInMemory(cohortGrants)), together.in(goZkLock, openZkLock), together.in(ours, openCohort(cohortGrants))},
}

// contest is n workers that lock and unlock.
type contest struct {
	apart    bool // a lock each
	sessions bool // a session each
	hold     time.Duration
}

var together, apart = contest{}, contest{apart: true}

// in is a library in this process.
func (c contest) in(name string, open opener) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) {
		open := open
		if name == batched {
			open = openBatched(t.n)
		}
		return t.counted(ctx, nil, func() (tally, error) { return c.run(ctx, t, open) })
	}}
}

// byOthers are the libraries in other processes.
func (c contest) byOthers() (all []peer) {
	for _, name := range []string{curatorsMutex, kazoosLock} {
		all = append(all, peer{name, func(ctx context.Context, t trial) (figures, error) {
			pids, err := t.other.ready(1)
			if err != nil {
				return nil, err
			}
			return t.counted(ctx, pids, func() (tally, error) { return t.other.contest(ctx, t, c) })
		}})
	}
	return all
}

// paths makes the lock paths.
func (c contest) paths(t trial) ([]string, error) {
	if !c.apart {
		return []string{t.path}, nil
	}
	return t.makeOwn(t.n)
}

// makeOwn makes n lock paths.
func (t trial) makeOwn(n int) (paths []string, err error) {
	for i := range n {
		paths = append(paths, own(t.path, i))
		if err := t.stage.monitor.makePath(paths[i]); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// own is one of several lock paths below another.
func own(path string, i int) string { return fmt.Sprintf("%s/%d", path, i) }

func (c contest) run(ctx context.Context, t trial, open opener) (tally, error) {
	paths, err := c.paths(t)
	if err != nil {
		return tally{}, err
	}
	all := crowd{paths: paths, workers: t.n, hold: c.hold, while: warmThenCount(t.o.warm, t.o.span)}
	if c.apart || t.peer != batched { // which keeps nobody out
		for range paths {
			all.guards = append(all.guards, newGuard())
		}
	}
	sessions := 1
	if c.sessions {
		sessions = t.n
	}
	if all.sessions, err = openAll(ctx, open, t.stage.connects(sessions), timeout); err != nil {
		return tally{}, err
	}
	defer closeAll(all.sessions)
	got, err := all.run(ctx)
	if err != nil || len(all.guards) == 0 {
		return got, err
	}
	return got, settle(all.guards, got.all)
}

// errTooShort says that there is nothing to compute a figure from.
var errTooShort = errors.New("bench: nothing was granted while it was counted: -span is too short")

// counted computes the figures of a crowd, whose clients are this process where no others are named. Packets, allocations and
// processor time are those of warm-up, opening and closing, too, and so are the grants that they are divided by.
func (t trial) counted(ctx context.Context, clients []int, run func() (tally, error)) (figures, error) {
	if clients == nil {
		clients = []int{os.Getpid()}
	}
	var found [2]figures
	var got tally
	for i := range found {
		packets, err := t.stage.packets(ctx)
		if err != nil {
			return nil, err
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		found[i] = figures{"packets": float64(packets), "allocs": float64(memory.Mallocs)}
		for key, pids := range map[string][]int{"client-cpu": clients, "server-cpu": t.stage.pids} {
			used, err := processorOf(pids)
			if err != nil {
				return nil, err
			}
			if used > 0 { // it is known
				found[i][key] = micros(used)
			}
		}
		if i == 0 {
			if got, err = run(); err != nil {
				return nil, err
			}
		}
	}
	if got.counted == 0 || got.elapsed <= 0 {
		return nil, errTooShort
	}
	all := found[1]
	all["packets"] -= float64(got.asked)
	for key := range all {
		all[key] = (all[key] - found[0][key]) / float64(got.all)
	}
	all["rate"], all["cost"] = float64(got.counted)/got.elapsed.Seconds(), micros(got.elapsed)/float64(got.counted)
	if got.handed > 0 {
		all["p50"], all["p99"] = micros(got.p50), micros(got.p99)
	}
	return all, nil
}

// processorMetrics are the figures of the processor time of a grant.
func processorMetrics(per string) []metric {
	return []metric{{"client-cpu", "µs/" + per, less}, {"server-cpu", "µs/" + per, neither}}
}

// existsRoundTrip is the measure of hand-offs: how long an Exists takes when nothing else runs.
func existsRoundTrip(ctx context.Context, t trial) (figures, error) {
	c, err := connect(ctx, t.stage.connect(0), timeout)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var took []time.Duration
	for begin := time.Now(); len(took) == 0 || time.Since(begin) < t.o.warm+t.o.span; {
		at := time.Now()
		if _, _, err := c.Exists(t.path); err != nil {
			return nil, err
		}
		if at.Sub(begin) >= t.o.warm {
			took = append(took, time.Since(at))
		}
	}
	return figures{"p50": micros(percentile(took, 50)), "p99": micros(percentile(took, 99))}, context.Cause(ctx)
}
