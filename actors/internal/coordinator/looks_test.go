package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// TestLooksAreForgotten: of requests that look whether they may queue, and are given up before any look is answered,
// nothing is left but what the newest look needs.
func TestLooksAreForgotten(t *testing.T) {
	c := newBench()
	for _, out := range c.crowd(100) {
		ask := out[0].(*Ask)
		c.order(c.epoch.asked[ask.ID].(countingAhead).request, machine.Withdraw, "")
		c.answer(out, &Listed{})
	}
	require.Equal(t, int64(100), c.stale)
	next := c.order(1000, machine.Create, "") // without a bound: it looks at nothing
	require.Len(t, c.epoch.pathOf("/p").queues[0].looks, 100)
	c.answer(next, &Created{Failure: Failure{Outcome: Refused}})
	c.crowd(1)
	require.Len(t, c.epoch.pathOf("/p").queues[0].looks, 1)
}
