package machine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestListedEvent: a request learns from its place whether it is first, and behind whom it is otherwise.
func TestListedEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var contenders []string
		for n := range rapid.IntRange(0, 5).Draw(t, "contenders") {
			mode := rapid.SampledFrom([]messages.Mode{messages.Exclusive, messages.Read, messages.Write}).Draw(t, "mode")
			contenders = append(contenders, queue.Style{Mode: mode}.Prefix("a")+fmt.Sprintf("%010d", n))
		}
		for _, own := range contenders {
			position, shown := queue.Find(contenders, own, 0)
			require.True(t, shown)
			require.Equal(t, machine.Event{Kind: machine.Listed, Op: 7, First: position.Before == 0,
				Predecessor: position.Predecessor}, machine.ListedEvent(7, position, shown), own)
		}
		for _, own := range []string{"", "config", queue.Style{}.Prefix("absent") + "0000000003"} {
			position, shown := queue.Find(contenders, own, 0)
			ev := machine.ListedEvent(7, position, shown)
			require.True(t, ev.Missing, own)
			require.False(t, ev.First, own)
			require.Equal(t, machine.Listed, ev.Kind)
			require.Equal(t, uint64(7), ev.Op)
		}
	})
}
