package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// crowd is workers that lock and unlock, over and over. Sessions, paths and guards are dealt out to them in turn.
type crowd struct {
	sessions []session
	paths    []string
	guards   []*guard // none where a lock keeps nobody out
	workers  int
	first    int // number of the first worker, less 1, where several crowds compete
	hold     time.Duration
	// while runs while the workers do, and says what is to be counted. It returns when they
	// are to stop, or ctx ends.
	while func(ctx context.Context, c *counting)
}

// counting says what of the workers' doings counts.
type counting struct {
	arrived chan struct{} // closed when every worker has held once
	missing atomic.Int64
	some    atomic.Bool // something was counted: a hand-off, where there is any between workers
	on      atomic.Bool
	over    atomic.Bool
	elapsed time.Duration
}

// warmThenCount counts for span once all workers have held, and warm is over. On a machine so slow that there is
// nothing to count by then it goes on until there is.
func warmThenCount(warm, span time.Duration) func(context.Context, *counting) {
	return func(ctx context.Context, c *counting) {
		rig.Rest(ctx, warm)
		select {
		case <-c.arrived:
		case <-ctx.Done():
			return
		}
		from := time.Now()
		c.on.Store(true)
		rig.Rest(ctx, span)
		_ = await(ctx, pollEvery, func() (bool, error) { return c.some.Load(), nil })
		c.on.Store(false)
		c.elapsed = time.Since(from)
	}
}

// tally counts the grants of a crowd.
type tally struct {
	counted   int             // grants while it was counted
	all       int             // grants altogether
	elapsed   time.Duration   // how long it was counted
	latencies []time.Duration // of one worker's: from a call of Unlock to the return of the next holder's Lock

	asked int // requests of the bench itself

	handed   int // hand-offs that were timed
	p50, p99 time.Duration
}

// run has the workers work until while returns, and then finish. The sessions are closed when ctx ends, so that a
// lock that ignores contexts returns, too.
func (c crowd) run(ctx context.Context) (tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { closeAll(c.sessions) })
	defer stop()
	state := &counting{arrived: make(chan struct{})}
	state.missing.Store(int64(c.workers))
	tallies := make([]tally, c.workers)
	var working sync.WaitGroup
	for w := range c.workers {
		working.Go(func() {
			if err := c.work(ctx, w, state, &tallies[w]); err != nil {
				state.over.Store(true)
				cancel(err)
			}
		})
	}
	c.while(ctx, state)
	state.over.Store(true)
	if err := finish(ctx, &working); err != nil {
		return tally{}, err
	}
	sum := tally{elapsed: state.elapsed}
	for _, t := range tallies {
		sum.counted += t.counted
		sum.all += t.all
		sum.latencies = append(sum.latencies, t.latencies...)
	}
	sum.handed, sum.p50, sum.p99 = len(sum.latencies), percentile(sum.latencies, 50), percentile(sum.latencies, 99)
	return sum, nil
}

// grace bounds the time that workers take to end when their sessions have been closed.
const grace = 10 * time.Second

// finish waits until workers have ended, and gives the cause when ctx ends before. Then they are left to themselves
// after a while: calls of go-zookeeper's Lock now and then never return when their session is closed while they wait.
func finish(ctx context.Context, working *sync.WaitGroup) error {
	ended := make(chan struct{})
	go func() { working.Wait(); close(ended) }()
	select {
	case <-ended:
		return context.Cause(ctx)
	case <-ctx.Done():
	}
	select {
	case <-ended:
		return context.Cause(ctx)
	case <-time.After(grace):
		return errors.Join(context.Cause(ctx), fmt.Errorf("bench: workers have not ended %v after their sessions", grace))
	}
}

// work is one worker's.
func (c crowd) work(ctx context.Context, w int, state *counting, t *tally) error {
	var g *guard
	if len(c.guards) > 0 {
		g = c.guards[w%len(c.guards)]
	}
	alone := c.workers == 1 || len(c.guards) != 1
	s, path, me := c.sessions[w%len(c.sessions)], c.paths[w%len(c.paths)], int64(c.first+w+1)
	for !state.over.Load() {
		unlock, err := s.lock(ctx, path)
		at := instant()
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		counted, some := state.on.Load(), alone
		if g != nil {
			latency, handed, err := g.enter(me, at)
			if err != nil {
				return err
			}
			if counted && handed {
				t.latencies = append(t.latencies, latency)
				some = true
			}
		}
		if t.all++; t.all == 1 {
			if g != nil {
				g.arrive()
			}
			if state.missing.Add(-1) == 0 {
				close(state.arrived)
			}
		}
		if counted {
			t.counted++
			if some && !state.some.Load() {
				state.some.Store(true)
			}
		}
		if c.hold > 0 {
			time.Sleep(c.hold)
		}
		if g != nil {
			if err := g.leave(me); err != nil {
				return err
			}
		}
		if err := unlock(ctx); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
	}
	return nil
}
