package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// queue is waiters of one session that queue behind a holder, and then hold one after the other.
var queue = workload{
	name: "queue", per: "waiters behind a holder, one session", sizes: []int{5000}, quick: []int{20}, ours: openUnbounded,
	metrics: append([]metric{
		{"queue", "ms", less, "Waiters queue and drain"},
		{"queue-in", "ms", less, "Waiters queue, until the servers have all their nodes"},
		{"queue-drain", "ms", less, "Waiters drain, from the holder's Unlock until the last one's has returned"},
		{"queue-requests", "packets/waiter", less, "Packets from clients for each waiter, queueing and draining"},
	}, processorMetrics("queue", "waiter", "Waiters queue and drain")...),
	library: queueAndDrain,
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		pids, err := other.ready(1)
		if err != nil {
			return nil, err
		}
		return t.requests(ctx, t.clocks(pids...), func() (queued, drained time.Duration, asked int, err error) {
			return other.queue(ctx, t)
		})
	},
}

func queueAndDrain(ctx context.Context, t trial, open opener) (figures, error) {
	sessions, err := openAll(ctx, open, t.stage.connects(1), timeout)
	if err != nil {
		return nil, err
	}
	defer closeAll(sessions)
	stop := context.AfterFunc(ctx, func() { closeAll(sessions) })
	defer stop()
	return t.requests(ctx, t.clocks(), func() (queued, drained time.Duration, asked int, err error) {
		line := waitingLine{s: sessions[0], path: t.path, guard: newGuard()}
		return line.run(ctx, t)
	})
}

// requests adds the servers' count of packets, less those with which the bench itself asked, and the processor time.
func (t trial) requests(ctx context.Context, clocks clocks,
	run func() (queued, drained time.Duration, asked int, err error)) (figures, error) {
	before, err := t.stage.packets(ctx)
	if err != nil {
		return nil, err
	}
	processor, err := clocks.read()
	if err != nil {
		return nil, err
	}
	queued, drained, asked, err := run()
	if err != nil {
		return nil, err
	}
	used, err := clocks.since(processor, t.n)
	if err != nil {
		return nil, err
	}
	after, err := t.stage.packets(ctx)
	if err != nil {
		return nil, err
	}
	found := figures{"queue": millis(queued + drained), "queue-in": millis(queued), "queue-drain": millis(drained),
		"queue-requests": float64(after-before-asked) / float64(t.n), allGrants: float64(t.n + 1)}
	used.put(found, "queue")
	return found, nil
}

// waitingLine has the requests that wait behind a holder.
type waitingLine struct {
	s     session
	path  string
	guard *guard
}

func (l waitingLine) run(ctx context.Context, t trial) (queued, drained time.Duration, asked int, err error) {
	unlock, err := l.s.lock(ctx, l.path)
	if err != nil {
		return 0, 0, 0, err
	}
	holder := int64(t.n + 1)
	if _, _, err := l.guard.enter(holder, instant()); err != nil {
		return 0, 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := context.AfterFunc(ctx, l.s.close) // ends clients that ignore contexts
	defer failed()
	var waiting sync.WaitGroup
	begin := time.Now()
	for w := range t.n {
		waiting.Go(func() {
			if err := l.wait(ctx, int64(w+1)); err != nil {
				cancel(err)
			}
		})
	}
	asked, err = t.stage.awaitChildren(ctx, l.path, t.n+1)
	queued = time.Since(begin)
	if err == nil {
		err = l.guard.leave(holder)
	}
	begin = time.Now()
	if err == nil {
		err = unlock(ctx)
	}
	if err != nil {
		cancel(err)
	}
	if err := finish(ctx, &waiting); err != nil {
		return 0, 0, 0, err
	}
	drained = time.Since(begin)
	return queued, drained, asked, l.guard.settle(int64(t.n + 1))
}

// wait is one waiter's.
func (l waitingLine) wait(ctx context.Context, me int64) error {
	unlock, err := l.s.lock(ctx, l.path)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if _, _, err := l.guard.enter(me, instant()); err != nil {
		return err
	}
	if err := l.guard.leave(me); err != nil {
		return err
	}
	return unlock(ctx)
}
