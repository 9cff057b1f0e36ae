package main

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// sticky is one worker that nobody competes with, as uncontended, with locks that stick where there are any; and what
// it costs somebody of another session to come then, also in round trips of a write more than where the lock is free.
var sticky = workload{
	name: "sticky", per: "workers", sizes: []int{1}, quick: []int{1},
	metrics: append([]metric{{"cost", "µs/cycle", less}, {"remote", "µs", less}, {"extra", "round-trips", neither}}, processorMetrics("cycle")...),
	peers:   []peer{stickyBy(goZkLock, openZkLock, openZkLock), stickyBy(ours, openTurnstileWith(nil, locks.WithSticky(time.Minute)), openTurnstile)},
}

// stickyBy is a library whose locks stick, where they can, and sessions of it in which they do not.
func stickyBy(name string, open, plain opener) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) {
		found, err := apart.in(name, open).measure(ctx, t)
		if err != nil {
			return nil, err
		}
		return found, comeAfter(ctx, t, open, plain, found)
	}}
}

// visits is the number of locks from another session.
const visits = 50

// comeAfter measures what a lock costs that another session has just given back, and what one that is free does.
func comeAfter(ctx context.Context, t trial, open, plain opener, found figures) error {
	sticks, err := open(ctx, t.stage.connect(0), timeout)
	if err != nil {
		return err
	}
	defer sticks.close()
	comes, err := plain(ctx, t.stage.connect(1), timeout)
	if err != nil {
		return err
	}
	defer comes.close()
	conn, err := connect(ctx, t.stage.connect(1), timeout)
	if err != nil {
		return err
	}
	defer conn.close()
	visit := func(s session, path string) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			at := time.Now()
			unlock, err := s.lock(ctx, t.path+path)
			if err != nil {
				return 0, err
			}
			took := time.Since(at)
			return took, unlock(ctx)
		}
	}
	steps := [...]func() (time.Duration, error){visit(sticks, "/shared"), visit(comes, "/shared"), visit(comes, "/free"), func() (time.Duration, error) {
		at := time.Now()
		_, err := conn.Set(t.path, nil, -1)
		return time.Since(at), err
	}}
	var all [len(steps)][]time.Duration
	for range visits {
		for i, step := range steps {
			took, err := step()
			if err != nil {
				return err
			}
			all[i] = append(all[i], took)
			rig.Rest(ctx, 2*hold) // until it is known that nobody waits; and nothing is measured right behind something else
		}
	}
	taken, free, trip := percentile(all[1], 50), percentile(all[2], 50), percentile(all[3], 50)
	if trip == 0 {
		return errors.New("bench: a write took no time")
	}
	found["remote"], found["extra"] = micros(taken), float64(taken-free)/float64(trip)
	return nil
}
