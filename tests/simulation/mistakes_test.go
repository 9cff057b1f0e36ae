package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMistakeIsFound: a server that ends sessions whose leases run shows as two holders. Package mistakes has mistakes of
// the code, for each invariant.
func TestMistakeIsFound(t *testing.T) {
	seed, violation := firstFailing(t, 30)
	t.Logf("seed %d: %s", seed, violation)
	require.Contains(t, violation, "two holders")
}

// firstFailing gives the first seed from one on that shows the mistake.
func firstFailing(t *testing.T, from uint64) (seed uint64, violation string) {
	t.Helper()
	const most = 1000
	for seed := from; seed < from+most; seed++ {
		p := newPlan(seed)
		p.early = true
		if result := run(t, p); result.violation != "" {
			return seed, result.violation
		}
	}
	t.Fatalf("not found in %d seeds", most)
	return 0, ""
}

// A failing plan is made so short that a reader sees why it fails, and the short plan fails every
// time. It is named Real for the time that it takes: make test does without it.
func TestRealShrink(t *testing.T) {
	seed, violation := firstFailing(t, 300)
	p := newPlan(seed)
	p.early = true
	short := p.only(shrink(t, p, violation))
	t.Logf("%d actions: %v", len(p.actions), short)
	require.LessOrEqual(t, len(short.actions), 10)
	for range 3 {
		require.Contains(t, run(t, short).violation, "two holders")
	}
}
