package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// hold is the time for which the workers of pair hold: long enough that the next one waits, and
// nothing else is to do.
const hold = 3 * time.Millisecond

var passing = contest{sessions: true, hold: hold}

// pair is sessions with one worker each that pass a lock on.
var pair = workload{
	name: "pair", per: "sessions with a worker each, 3 ms holds", sizes: []int{2, 16}, quick: []int{2},
	metrics: append([]metric{{"p50", "µs", less}, {"p99", "µs", less}, {"packets", "packets/hand-off", less}}, processorMetrics("hand-off")...),
	peers: append([]peer{{bareRequests, deleteUntilEvent}, passing.in(goZkLock, openZkLock), passing.in(ours, openTurnstile)},
		passing.byOthers()...),
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
	return t.counted(ctx, nil, func() (got tally, err error) {
		begin := time.Now()
		for got.elapsed < t.o.warm+t.o.span || len(got.latencies) == 0 {
			latency, err := deleteOnce(ctx, t.path, from, to)
			if err != nil {
				return got, err
			}
			got.counted++
			if got.elapsed = time.Since(begin); got.elapsed > t.o.warm {
				got.latencies = append(got.latencies, latency)
			}
		}
		got.all, got.handed = got.counted, len(got.latencies)
		got.p50, got.p99 = percentile(got.latencies, 50), percentile(got.latencies, 99)
		return got, nil
	})
}

func deleteOnce(ctx context.Context, path string, from, to *connection) (time.Duration, error) {
	node, err := from.Create(path+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
	if err != nil {
		return 0, err
	}
	_, _, gone, err := to.GetW(node)
	if errors.Is(err, zk.ErrNoNode) { // the other server has not heard of it yet
		if _, err = to.Sync(path); err == nil {
			_, _, gone, err = to.GetW(node)
		}
	}
	if err != nil {
		return 0, err
	}
	rig.Rest(ctx, hold)
	at := time.Now()
	seen := make(chan time.Duration, 1)
	go func() {
		select {
		case <-gone:
		case <-ctx.Done():
		}
		seen <- time.Since(at)
	}()
	err = from.Delete(node, -1)
	return <-seen, errors.Join(err, context.Cause(ctx))
}

const noLookAhead = "no-look-ahead"

// lookAhead is sessions that pass a lock on, with look-ahead and without. It says whether that is worth its lines: its gain is
// the round trip of a listing, where a waiter has the time to list while others hold.
//
// Twelve rounds on ZooKeeper 3.9.5, medians, the ratios those of each round. Other work was on the two cores, so only
// the ratios say something. It pays only where four sessions or more compete and holds last. Where holders give back at once
// the next waiter's listing is still under way when its turn comes.
//
//	sessions  3 ms holds  without  ratio  0 ms holds  without  ratio  packets  without
//	2         291 µs      293 µs   1.03   383 µs      358 µs   0.93   4.0      4.0
//	4         351 µs      569 µs   1.67   474 µs      448 µs   0.98   6.0      5.0
//	16        363 µs      612 µs   1.77   489 µs      523 µs   1.05   6.1      5.1
var lookAhead = workload{
	name: "look-ahead", per: "sessions with a worker each", sizes: []int{2, 4, 16}, quick: []int{3}, named: true,
	metrics: []metric{{"p50", "µs", less}, {"0ms", "µs", less}, {"packets", "packets/hand-off", less}},
	peers: []peer{
		{ours, passingOn},
		{noLookAhead, func(ctx context.Context, t trial) (figures, error) {
			_ = os.Setenv("TURNSTILE_WITHOUT", "look-ahead")
			defer os.Unsetenv("TURNSTILE_WITHOUT")
			return passingOn(ctx, t)
		}},
	},
}

// passingOn measures hand-offs of holders that hold for a while, and of holders that give back at once.
func passingOn(ctx context.Context, t trial) (figures, error) {
	found, err := passing.in(ours, openTurnstile).measure(ctx, t)
	if err != nil {
		return nil, err
	}
	atOnce, err := contest{sessions: true}.in(ours, openTurnstile).measure(ctx, t)
	found["0ms"] = atOnce["p50"]
	return found, err
}
