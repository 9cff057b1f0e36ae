package main

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// sticky is one worker that nobody competes with, as uncontended, with locks that stick where there are any; and what
// it costs somebody of another session to come then.
var sticky = workload{
	name: "sticky", per: "workers", sizes: []int{1}, quick: []int{1}, ours: openSticky,
	metrics: append([]metric{
		{"sticky", "µs/cycle", less, "A lock and an unlock that nobody competes with, with locks that stick"},
		{"sticky-remote", "µs", less, "Lock from another session, where the lock was given back and may stick, median"},
		{"sticky-extra", "round-trips", neither, "Its excess over a lock that is free, in round trips of a write"},
	}, processorMetrics("sticky", "cycle", "A lock and an unlock that nobody competes with, with locks that stick")...),
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		got, err := perCycle("sticky")(t.apart(ctx, open))
		if err != nil {
			return nil, err
		}
		return got, comeAfter(ctx, t, open, got)
	},
}

// visits is the number of locks from another session.
const visits = 50

// comeAfter measures what a lock costs that another session has just given back, and what one that is free does.
func comeAfter(ctx context.Context, t trial, open opener, got figures) error {
	sticks, err := open(ctx, t.stage.connect(0), timeout)
	if err != nil {
		return err
	}
	defer sticks.close()
	comes, err := libraries[t.peer](ctx, t.stage.connect(1), timeout)
	if err != nil {
		return err
	}
	defer comes.close()
	conn, err := connect(ctx, t.stage.connect(1), timeout)
	if err != nil {
		return err
	}
	defer conn.close()
	var taken, free, writes []time.Duration
	shared, alone := t.path+"/shared", t.path+"/free"
	for range visits {
		if _, err := visit(ctx, sticks, shared); err != nil {
			return err
		}
		rig.Rest(ctx, 2*hold) // until it is known that nobody waits
		took, err := visit(ctx, comes, shared)
		if err != nil {
			return err
		}
		taken = append(taken, took)
		rig.Rest(ctx, 2*hold) // nothing is measured right behind something else, or all would have to be
		if took, err = visit(ctx, comes, alone); err != nil {
			return err
		}
		free = append(free, took)
		rig.Rest(ctx, 2*hold)
		at := time.Now()
		if _, err := conn.Set(t.path, nil, -1); err != nil {
			return err
		}
		writes = append(writes, time.Since(at))
	}
	trip := percentile(writes, 50)
	if trip == 0 {
		return errors.New("bench: a write took no time")
	}
	got["sticky-remote"] = micros(percentile(taken, 50))
	got["sticky-extra"] = float64(percentile(taken, 50)-percentile(free, 50)) / float64(trip)
	return nil
}

// visit locks and unlocks, and tells how long the Lock took.
func visit(ctx context.Context, s session, path string) (time.Duration, error) {
	at := time.Now()
	unlock, err := s.lock(ctx, path)
	if err != nil {
		return 0, err
	}
	took := time.Since(at)
	return took, unlock(ctx)
}
