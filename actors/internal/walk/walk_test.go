package walk

import (
	"cmp"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/layers"
)

// TestLayers: each file uses only those before it in the list that the package doc ends with. It has files of tests alone, so
// that no program can link a walk.
func TestLayers(t *testing.T) { layers.Check(t) }

// TestMain gives the collector of garbage little to do: most states are thrown away at once, and the rest is small
// until it comes to the memory limit.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(3 << 30)
	os.Exit(m.Run())
}

// allSmall gives the plans of small bounds.
func allSmall() []Plan {
	return slices.Concat(small, smallKinds, smallReclaims, smallPauses,
		smallReturns, smallOrphans, smallGiveUps, smallAdmission, smallContention, smallCalls, without(smallWithout), swept)
}

// plansOfThisRun gives the plans that TestWalk explores: the small bounds, with TURNSTILE_WALK=long the large ones too,
// with the race detector a few tiny ones, and with -short those of exclusive locks.
func plansOfThisRun() []Plan {
	switch {
	case underRace:
		return tiny
	case os.Getenv("TURNSTILE_WALK") == "long":
		return slices.Concat(allSmall(), large, largeKinds, largeReclaims,
			largePauses, largeOrphans, largeGiveUps, largeAdmission, largeContention, largeCalls, without(largeWithout))
	case testing.Short():
		return small
	default:
		return allSmall()
	}
}

// part bounds the states that make test expands of a plan: those near the beginning. make walk has the rest.
const part = 3_000

// TestWalk explores the plans, as many at a time as there are processors. That every row is reached is asserted of all
// plans together, and so not where -run or -skip leaves some of them out.
func TestWalk(t *testing.T) {
	plans := plansOfThisRun()
	all, chosen := Result{Fired: map[*machine.Row]bool{}}, 0
	var mu sync.Mutex
	t.Run("plans", func(t *testing.T) {
		for _, plan := range plans {
			plan.Limit = cmp.Or(plan.Limit, 4_000_000)
			if os.Getenv("TURNSTILE_WALK") != "long" {
				plan.Part = part
			}
			t.Run(plan.Name, func(t *testing.T) {
				chosen++ // one after the other: none goes on beyond Parallel before all have begun
				t.Parallel()
				result, err := Walk(plan)
				t.Log(result)
				require.NoError(t, err)
				require.True(t, result.Cut || result.Ends > 0)
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
	t.Logf("%d of %d plans: %d states, %d transitions", chosen, len(plans), all.States, all.Transitions)
	if chosen == len(plans) && !underRace && !testing.Short() {
		assert.Greater(t, all.States, 100_000)
		everyRowIsReached(t, all.Fired)
	}
}

// everyRowIsReached fails when a row of the machine's table fires in no history, though the model could reach it; and
// when one does of which it is said that it cannot.
func everyRowIsReached(t *testing.T, fired map[*machine.Row]bool) {
	type name struct {
		from messages.State
		on   machine.Kind
		when string
	}
	reached := map[name]bool{}
	for row := range fired {
		reached[name{row.From, row.On, row.If.Name}] = true
	}
	for _, row := range machine.Rows() {
		does := reached[name{row.From, row.On, row.If.Name}]
		if why := beyond(row); why == "" {
			assert.True(t, does, "no history reaches %v, %v [%s] → %v", row.From, row.On, row.If.Name, row.To)
		} else {
			assert.False(t, does,
				"a history reaches %v, %v [%s] → %v, though %s", row.From, row.On, row.If.Name, row.To, why)
		}
	}
}

// beyond says why the model does not reach a row.
func beyond(row machine.Row) string {
	guard := row.If.Name
	switch {
	case (row.On == machine.WatchContention || row.On == machine.Check) && !row.From.Holding():
		return "only holders ask"
	case row.On == machine.Refused:
		return "nothing is refused"
	case row.To == messages.StateFailed && row.Do.Name == "done":
		return "only what was refused or exhausted fails after a delete"
	case guard == "sequence exhausted", guard == "found, sequence exhausted":
		return "the counter does not come to its end"
	case guard == "found, was holding, lease over":
		return "the lock actor looks at the clock first"
	case row.On == machine.Expired && guard == "was holding":
		return "the lease is over before the servers end the session"
	}
	return ""
}
