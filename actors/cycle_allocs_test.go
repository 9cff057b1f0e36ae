package actors_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Bounds of the allocations of a cycle: those of the lock actor, the session actor, the client
// library, and the embedded server that answers in this process. The bounds are a little above the
// measured figures, so that half as much again is found out. When less is allocated, run
//
//	go test -run TestCyclesAllocate -v ./actors
//	go test -race -run TestCyclesAllocate -v ./actors
//
// and set each to the greater figure and a tenth more.
const (
	uncontendedAllocs = 211 // a lock and an unlock that nobody competes with; a slow machine adds heartbeats
	handOverAllocs    = 192 // the same for each of two that take turns, in one session
)

func TestCyclesAllocate(t *testing.T) {
	t.Setenv("TURNSTILE_WITHOUT", "") // the bounds are for all fast paths
	const cycles = 100
	for name, of := range map[string]struct {
		workers int
		bound   float64
	}{"uncontended": {1, uncontendedAllocs}, "two in turn": {2, handOverAllocs}} {
		t.Run(name, func(t *testing.T) {
			c := newCycler(t, of.workers)
			each := testing.AllocsPerRun(3, func() { c.cycles(cycles) }) / float64(cycles*of.workers)
			t.Logf("%.0f allocations a cycle", each)
			require.LessOrEqual(t, each, of.bound)
		})
	}
}
