package locks

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestNobodyIsToldOfACallThatHasGone: the caller of Lock has gone as its grant is on its way. What becomes of the hold until it
// is given back is told to nobody: Lock has returned no lease.
func TestNobodyIsToldOfACallThatHasGone(t *testing.T) {
	for _, state := range []messages.State{messages.StateRecovering, messages.StateRevoking, messages.StateReleasing,
		messages.StateReleased, messages.StateLost, messages.StateFailed} {
		system := newSystem(slog.New(slog.DiscardHandler))
		t.Cleanup(system.Shutdown)
		told := 0
		from := &lock{client: newClient(system, &options{}), lockSettings: lockSettings{onChange: func(Change) { told++ }}}
		k := (*call)(&Lease{from: from, values: context.Background()})
		require.True(t, k.withdraw())
		hold := &sharing.Hold{Held: &messages.Held{}, Clock: zkconn.NewLeaseClock(nil)}
		k.Granted(1, hold, 1)
		if state == messages.StateReleased {
			k.Told(messages.StateReleasing, time.Time{}, messages.ReasonRevoked, "")
		}
		k.Told(state, time.Time{}, messages.ReasonNone, "")
		from.client.changes.Wait(t.Context())
		require.Zero(t, told, state)
	}
}
