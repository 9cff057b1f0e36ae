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
		from    uint64 // where the search begins: any seed would do, this one shows it, or one soon after it
	}{
		{"a server that ends sessions whose lease runs", earlyExpiry, "two holders", 80},
		{"a network that loses watch events", hiddenLoss, "lost wake-up", 0},
		{"an operator who deletes the nodes of holders", hiddenDeletion, "two holders", 77},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed, violation := firstFailing(t, c.mistake, c.from)
			t.Logf("seed %d: %s", seed, violation)
			require.Contains(t, violation, c.shows)
		})
	}
}

// firstFailing gives the first seed from one on that shows a mistake.
func firstFailing(t *testing.T, made mistake, from uint64) (seed uint64, violation string) {
	t.Helper()
	const most = 1000
	for seed := from; seed < from+most; seed++ {
		p := newPlan(seed)
		p.mistake = made
		if made == hiddenLoss { // it takes many exclusive locks to see an event that hardly any seed loses
			p.uses = make([]use, p.paths)
		}
		if result := run(t, p, newTally()); result.violation != "" {
			return seed, result.violation
		}
	}
	t.Fatalf("not found in %d seeds", most)
	return 0, ""
}

// A failing plan is made so short that a reader sees why it fails, and the short plan fails every
// time. It is named Real for the time that it takes: make test does without it.
func TestRealShrink(t *testing.T) {
	seed, violation := firstFailing(t, earlyExpiry, 300)
	p := newPlan(seed)
	p.mistake = earlyExpiry
	short := p.only(shrink(t, p, violation))
	t.Logf("%d actions: %v", len(p.actions), short)
	require.LessOrEqual(t, len(short.actions), 10)
	for range 3 {
		require.Contains(t, run(t, short, newTally()).violation, "two holders")
	}
}
