package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/interop"
)

// queue is waiters of one session that queue behind a holder, and then hold one after the other.
var queue = workload{
	name: "queue", per: "waiters behind a holder, one session", sizes: []int{5000}, quick: []int{20},
	metrics: append([]metric{{"total", "ms", less}, {"in", "ms", less}, {"drain", "ms", less}, {"packets", "packets/waiter", less}}, processorMetrics("waiter")...),
	peers: []peer{waitingIn(goZkLock, openZkLock), waitingIn(ours, openTurnstileWith(unbounded)),
		waiting(curatorsMutex, nil), waiting(kazoosLock, nil)},
}

// line says how long the waiters of a queue took to queue and to drain, and how often it was asked for their nodes.
type line struct {
	queued, drained time.Duration
	asked           int
}

// waitingIn is a library in this process.
func waitingIn(name string, open opener) peer {
	return waiting(name, func(ctx context.Context, t trial) (line, error) {
		sessions, err := openAll(ctx, open, t.stage.connects(1), timeout)
		if err != nil {
			return line{}, err
		}
		defer closeAll(sessions)
		return t.lineUp(ctx, sessions[0])
	})
}

// waiting is a library, in other processes where run is nil.
func waiting(name string, run func(context.Context, trial) (line, error)) peer {
	return peer{name, func(ctx context.Context, t trial) (found figures, err error) {
		var pids []int
		run := run
		if run == nil {
			if pids, err = t.other.ready(1); err != nil {
				return nil, err
			}
			run = func(ctx context.Context, t trial) (line, error) {
				done, err := t.other.run(ctx, t, 0, interop.Job{Task: interop.Queueing, Threads: t.n})
				return line{done.Timing.Queued, done.Timing.Drained, done.Timing.Asked}, err
			}
		}
		var l line
		found, err = t.counted(ctx, pids, func() (tally, error) {
			l, err = run(ctx, t)
			return tally{counted: t.n, all: t.n, elapsed: l.queued + l.drained, asked: l.asked}, err
		})
		if err != nil {
			return nil, err
		}
		found["total"], found["in"], found["drain"] = millis(l.queued+l.drained), millis(l.queued), millis(l.drained)
		return found, nil
	}}
}

// lineUp has requests of a session wait behind a holder, and then hold.
func (t trial) lineUp(ctx context.Context, s session) (l line, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := context.AfterFunc(ctx, s.close) // ends clients that ignore contexts
	defer failed()
	g, holder := newGuard(), int64(t.n+1)
	hold := func(me int64, meanwhile func() error) error {
		unlock, err := s.lock(ctx, t.path)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if _, _, err := g.enter(me, instant()); err != nil {
			return err
		}
		if err := meanwhile(); err != nil {
			return err
		}
		if err := g.leave(me); err != nil {
			return err
		}
		return unlock(ctx)
	}
	var waiting sync.WaitGroup
	var begin time.Time
	err = hold(holder, func() (err error) {
		begin = time.Now()
		for w := range t.n {
			waiting.Go(func() {
				if err := hold(int64(w+1), func() error { return nil }); err != nil {
					cancel(err)
				}
			})
		}
		err = await(ctx, pollEvery, func() (bool, error) {
			l.asked++
			_, stat, err := t.stage.monitor.Exists(t.path)
			return stat != nil && int(stat.NumChildren) > t.n, err
		})
		l.queued = time.Since(begin)
		begin = time.Now()
		return err
	})
	if err != nil {
		cancel(err)
	}
	if err := finish(ctx, &waiting); err != nil {
		return l, err
	}
	l.drained = time.Since(begin)
	return l, settle([]*guard{g}, t.n+1)
}
