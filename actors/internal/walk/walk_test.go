package walk

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// TestMain gives the collector of garbage little to do: most states are thrown away at once, and the rest is small
// until it comes to the memory limit.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(3 << 30)
	os.Exit(m.Run())
}

// allSmall gives the plans of small bounds.
func allSmall() []Plan {
	return slices.Concat(small, smallSticky, smallCohorts, smallReaders, smallKinds, smallReclaims, smallPauses,
		smallReturns, smallGiveUps, smallAdmission, smallMaxWaiters, without(smallWithout), []Plan{secondIsNoProof})
}

// plansOfThisRun gives the plans that TestWalk explores: the small bounds, with TURNSTILE_WALK=long the large ones too,
// with the race detector a few tiny ones, and with -short those of exclusive locks.
func plansOfThisRun() []Plan {
	switch {
	case underRace:
		return tiny
	case os.Getenv("TURNSTILE_WALK") == "long":
		return slices.Concat(allSmall(), large, largeSticky, largeCohorts, largeReaders, largeKinds, largeReclaims,
			largePauses, largeGiveUps, largeAdmission, largeMaxWaiters, without(largeWithout))
	case testing.Short():
		return small
	default:
		return allSmall()
	}
}

// TestWalk explores the plans, as many at a time as there are processors. That every row is reached is asserted of all
// plans together, and so not where -run or -skip leaves some of them out.
func TestWalk(t *testing.T) {
	plans := plansOfThisRun()
	all, chosen := Result{Fired: map[*machine.Row]bool{}}, 0
	var mu sync.Mutex
	t.Run("plans", func(t *testing.T) {
		for _, plan := range plans {
			plan.Limit = cmp.Or(plan.Limit, 4_000_000)
			t.Run(plan.Name, func(t *testing.T) {
				chosen++ // one after the other: none goes on beyond Parallel before all have begun
				t.Parallel()
				result, err := Walk(plan)
				t.Log(result, megabytes())
				require.NoError(t, err)
				require.NotZero(t, result.Ends)
				mu.Lock()
				defer mu.Unlock()
				all.States += result.States
				all.Transitions += result.Transitions
				for row := range result.Fired {
					all.Fired[row] = true
				}
			})
		}
	})
	t.Logf("%d of %d plans: %d states, %d transitions, %s", chosen, len(plans), all.States, all.Transitions, megabytes())
	if chosen == len(plans) && !underRace && !testing.Short() {
		assert.Greater(t, all.States, 100_000)
		everyRowIsReached(t, all.Fired)
	}
}

// megabytes tells how much memory the test has taken from the system so far, at its most.
func megabytes() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d MiB", m.Sys>>20)
}
