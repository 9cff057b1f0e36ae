package walk

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// TestWalk explores the small bounds, and with TURNSTILE_WALK=long the large ones.
func TestWalk(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30))
	plans := slices.Concat(small, smallSticky, smallKinds, without(smallWithout))
	if os.Getenv("TURNSTILE_WALK") == "long" {
		plans = slices.Concat(plans, large, largeSticky, without(largeWithout))
	}
	fired := map[*machine.Row]bool{}
	states, transitions := 0, 0
	for _, plan := range plans {
		plan.Limit = 1_000_000
		t.Run(plan.Name, func(t *testing.T) {
			result, err := Walk(plan)
			t.Log(result, megabytes())
			require.NoError(t, err)
			require.NotZero(t, result.Ends)
			states += result.States
			transitions += result.Transitions
			for row := range result.Fired {
				fired[row] = true
			}
		})
	}
	t.Logf("%d plans: %d states, %d transitions", len(plans), states, transitions)
	require.Greater(t, states, 100_000)
	everyRowIsReached(t, fired)
}

// megabytes tells how much memory the test has taken from the system so far, at its most.
func megabytes() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d MiB", m.Sys>>20)
}
