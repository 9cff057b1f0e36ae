package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// hold is the time for which the workers of pair hold: long enough that the next one waits, and
// nothing else is to do.
const hold = 3 * time.Millisecond

// pair is sessions with one worker each that pass a lock on.
var pair = workload{
	name: "pair", per: "sessions with a worker each, 3 ms holds", sizes: []int{2, 16}, quick: []int{2},
	metrics: append([]metric{
		{"pair", "µs", less, "Hand-off between sessions that hold for 3 ms: from Unlock to the next holder's Lock, median"},
		{"pair-p99", "µs", less, "Hand-off between sessions that hold for 3 ms, 99th percentile"},
		{"pair-packets", "packets/hand-off", less, "Packets from clients for a hand-off between sessions that hold for 3 ms"},
	}, processorMetrics("pair", "hand-off", "Hand-off between sessions that hold for 3 ms")...),
	bare: deleteUntilEvent,
	library: func(ctx context.Context, t trial, open opener) (figures, error) {
		return passing(t.passing(ctx, open, hold))
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		return passing(t.counted(ctx, func() (tally, error) {
			return other.contest(ctx, t, contestJob{sessions: t.n, threads: 1, hold: hold})
		}))
	},
}

// passing has as many sessions pass a lock on, each of which holds it for a while.
func (t trial) passing(ctx context.Context, open opener, hold time.Duration) (tally, error) {
	sessions, err := openAll(ctx, open, t.stage.connects(t.n), timeout)
	if err != nil {
		return tally{}, err
	}
	defer closeAll(sessions)
	return t.counted(ctx, func() (tally, error) {
		return crowd{sessions: sessions, workers: t.n, path: onePath(t.path), guard: oneGuard(newGuard()), hold: hold,
			timed: warmThenCount(t.o.warm, t.o.span), clocks: t.clocks()}.run(ctx)
	})
}

func passing(got tally, err error) (figures, error) {
	if err == nil && got.handed == 0 {
		err = errTooShort
	}
	if err != nil {
		return nil, err
	}
	found := figures{"pair": micros(got.p50), "pair-p99": micros(got.p99), "pair-packets": got.packets()}
	got.spent.put(found, "pair")
	return found, nil
}

// deleteUntilEvent is the least that a hand-off between sessions takes: from the call of a delete until another
// session has the event. The other one watches before, and both rest for as long as a holder holds.
func deleteUntilEvent(ctx context.Context, t trial) (figures, error) {
	from, err := connect(ctx, t.stage.connect(0), timeout)
	if err != nil {
		return nil, err
	}
	defer from.close()
	to, err := connect(ctx, t.stage.connect(1), timeout)
	if err != nil {
		return nil, err
	}
	defer to.close()
	before, err := t.stage.packets(ctx)
	if err != nil {
		return nil, err
	}
	clocks := t.clocks()
	processor, err := clocks.read()
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	cycles := 0
	for begin := time.Now(); len(took) == 0 || time.Since(begin) < t.o.warm+t.o.span; {
		latency, err := deleteOnce(ctx, t, from, to)
		if err != nil {
			return nil, err
		}
		cycles++
		if time.Since(begin) > t.o.warm {
			took = append(took, latency)
		}
	}
	after, err := t.stage.packets(ctx)
	if err != nil {
		return nil, err
	}
	found := figures{"pair": micros(percentile(took, 50)), "pair-p99": micros(percentile(took, 99)),
		"pair-packets": float64(after-before) / float64(cycles)}
	used, err := clocks.since(processor, cycles)
	used.put(found, "pair")
	return found, err
}

func deleteOnce(ctx context.Context, t trial, from, to *connection) (time.Duration, error) {
	node, err := from.Create(t.path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
	if err != nil {
		return 0, err
	}
	_, _, gone, err := to.GetW(node)
	if errors.Is(err, zk.ErrNoNode) { // the other server has not heard of it yet
		if _, err = to.Sync(t.path); err == nil {
			_, _, gone, err = to.GetW(node)
		}
	}
	if err != nil {
		return 0, err
	}
	rig.Rest(ctx, hold)
	at := time.Now()
	var arrived time.Duration
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		select {
		case <-gone:
			arrived = time.Since(at)
		case <-ctx.Done():
		}
	}()
	err = from.Delete(node, -1)
	<-seen
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("bench: no event of %s: %w", node, context.Cause(ctx))
	}
	return arrived, err
}
