package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The simulation finds what it is for: mistakes that are made on purpose, in the world around Turnstile, show
// as violations of the invariant that they concern, within so many seeds.
func TestMistakesAreFound(t *testing.T) {
	for _, c := range []struct {
		name    string
		mistake mistake
		shows   string
	}{
		{"leases that last longer than a session can be relied on", longLease, "two holders"},
		{"a server that ends sessions whose lease runs", earlyExpiry, "two holders"},
		{"a network that loses watch events", hiddenLoss, "lost wake-up"},
		{"an operator who deletes the nodes of holders", hiddenDeletion, "two holders"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 1000
			for seed := range uint64(most) {
				p := newPlan(seed)
				p.mistake = c.mistake
				if result := run(t, p, newTally()); result.violation != "" {
					t.Logf("seed %d: %s", seed, result.violation)
					require.Contains(t, result.violation, c.shows)
					return
				}
			}
			t.Fatalf("not found in %d seeds", most)
		})
	}
}
