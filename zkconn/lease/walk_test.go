package lease_test

import (
	"cmp"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var allWays = [ways]bool{true, true, true, true}

// TestMain bounds the memory: what waits to be expanded is large, and the rest small.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(3 << 30)
	os.Exit(m.Run())
}

// small are the plans of each test run.
var small = []plan{
	lossy, bunched, latePing,
	{Name: "stalls", T: 24, Horizon: 26, Start: follower, Ways: [ways]bool{up: true, down: true}, Phase: 3, Until: 8, Forever: true,
		Bounds: bounds{Ordered: 1, Committed: 1, Stalls: 2}},
	{Name: "reconnect", T: 24, Horizon: 50, Lag: 2, Start: follower, Sure: true, Ways: [ways]bool{in: true}, Servers: []int{first}, Until: 30,
		Bounds: bounds{Committed: 1, Cuts: 1, Connects: 1, Stalls: 1}},
	{Name: "shorter", T: 24, Timeouts: [members]int{first: 12}, Horizon: 30, Start: follower, Sure: true, Ways: [ways]bool{in: true}, Until: 12,
		Servers: []int{first}, Bounds: bounds{Committed: 1, Cuts: 2, Connects: 2, Stalls: 1}},
	{Name: "election", T: 24, Horizon: 32, Start: follower, Sure: true, Servers: []int{second}, Until: 4,
		Bounds: bounds{Committed: 1, Cuts: 1, Connects: 1, Elections: 1}},
}

// large has further plans, for make lease-walk.
var large = []plan{
	{Name: "large stalls", T: 24, Horizon: 26, Late: 1, Start: follower, Ways: [ways]bool{up: true, down: true}, Phase: 3, Until: 9,
		Forever: true, Bounds: bounds{Ordered: 1, Committed: 1, Stalls: 2}, Limit: 12_000_000},
	{Name: "large reconnect", T: 24, Horizon: 50, Lag: 2, Start: follower, Sure: true, Ways: [ways]bool{in: true, out: true},
		Servers: []int{first}, Until: 30, Bounds: bounds{Committed: 1, Cuts: 1, Connects: 1, Stalls: 1, Lags: 1}, Limit: 12_000_000},
	{Name: "large shorter", T: 24, Timeouts: [members]int{first: 12}, Horizon: 40, Start: follower, Sure: true, Ways: [ways]bool{in: true},
		Servers: []int{first, follower}, Bounds: bounds{Committed: 1, Cuts: 2, Connects: 2, Stalls: 1}, Limit: 12_000_000},
	{Name: "large election", T: 24, Horizon: 40, Start: follower, Sure: true, Servers: []int{second}, Until: 8,
		Bounds: bounds{Ordered: 1, Committed: 1, Cuts: 1, Connects: 1, Elections: 1}, Limit: 12_000_000},
}

// plansOfThisRun gives the small plans, with TURNSTILE_LEASE_WALK=long the large ones too, and with the race detector two.
func plansOfThisRun() []plan {
	switch {
	case underRace || testing.Short():
		return []plan{latePing, bunched}
	case long():
		return slices.Concat(small, large)
	}
	return small
}

func long() bool { return os.Getenv("TURNSTILE_LEASE_WALK") == "long" }

// TestWalk explores the plans.
func TestWalk(t *testing.T) {
	t.Run("plans", func(t *testing.T) {
		for _, p := range plansOfThisRun() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				p.Limit = cmp.Or(p.Limit, 1_500_000)
				r, err := walk(p)
				t.Logf("%+v", r)
				require.NoError(t, err)
				require.NotZero(t, r.beside)
			})
		}
	})
}

// histories is the number of histories of a plan that are played at random.
func histories() int {
	switch {
	case underRace || testing.Short():
		return 500
	case long():
		return 2_000_000
	}
	return 5_000
}
