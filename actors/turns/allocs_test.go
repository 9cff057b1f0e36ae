package turns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// TestNothingIsAllocated: a cycle on a kept hold, and a hand-off, allocate nothing.
func TestNothingIsAllocated(t *testing.T) {
	w := newWorld(&plan{})
	turns, m, want := w.turns, Moment{At: w.at, Lease: w}, words{"sticky=1h", "cohort=9"}.want()
	c := turns.Call(m, want, 0)
	h := turns.Take()[0].Hold
	turns.Held(m, h, &messages.Held{Grant: messages.Grant{Token: 1 << 10}, Places: messages.MaxPlace << 40, Epoch: 1, Term: 1}, timeout)
	turns.Hear(m, h, &messages.Watched{Readable: true})
	turns.GiveBack(m, c)
	turns.Take()
	require.Equal(t, 1, turns.kept)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		a := turns.Call(m, want, 0)
		b := turns.Call(m, want, 0)
		turns.GiveBack(m, a)
		turns.GiveBack(m, b)
		turns.Take()
	}))
}
