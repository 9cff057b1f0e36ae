package main

import (
	"context"
	"os"
	"time"
)

const noLookAhead = "no-look-ahead"

func init() { workloads = append(workloads, lookAhead) }

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
	metrics: []metric{
		{"look-ahead", "µs", less, "Hand-off between sessions that hold for 3 ms: from Unlock to the next holder's Lock, median"},
		{"look-ahead-0ms", "µs", less, "Hand-off between sessions that give back at once, median"},
		{"look-ahead-packets", "packets/hand-off", less, "Packets from clients for a hand-off between sessions that hold for 3 ms"},
	},
	others: []peer{
		{ours, func(ctx context.Context, t trial) (figures, error) { return passingOn(ctx, t, openTurnstile) }},
		{noLookAhead, func(ctx context.Context, t trial) (figures, error) {
			defer os.Unsetenv("TURNSTILE_WITHOUT")
			return passingOn(ctx, t, func(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
				_ = os.Setenv("TURNSTILE_WITHOUT", "look-ahead")
				return openTurnstile(ctx, servers, timeout)
			})
		}},
	},
}

// passingOn measures hand-offs of holders that hold for a while, and of holders that do not.
func passingOn(ctx context.Context, t trial, open opener) (figures, error) {
	found := figures{}
	for _, kept := range []time.Duration{hold, 0} {
		got, err := t.passing(ctx, open, kept)
		switch {
		case err != nil:
			return nil, err
		case got.handed == 0:
			return nil, errTooShort
		case kept > 0:
			found["look-ahead"], found["look-ahead-packets"] = micros(got.p50), got.packets()
		default:
			found["look-ahead-0ms"] = micros(got.p50)
		}
	}
	return found, nil
}
