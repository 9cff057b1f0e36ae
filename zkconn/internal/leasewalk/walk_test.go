package leasewalk

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var allWays = [ways]bool{true, true, true, true}

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

func TestWalk(t *testing.T) {
	t.Run("plans", func(t *testing.T) {
		for _, p := range small {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				p.Limit = 1_500_000
				if os.Getenv("TURNSTILE_LEASE_WALK") == "long" {
					p.Limit = 40_000_000
				}
				r, err := walk(p)
				t.Logf("%+v", r)
				require.NoError(t, err)
				require.NotZero(t, r.beside)
			})
		}
	})
}

// histories is how many histories of a plan are played at random.
func histories() int {
	if os.Getenv("TURNSTILE_LEASE_WALK") == "long" {
		return 3_000_000
	}
	return 20_000
}
