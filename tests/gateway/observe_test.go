package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestObserveOverGateway: an observer that comes late is told the current state first, then what
// follows, as by a lock actor of its own process.
func TestObserveOverGateway(t *testing.T) {
	inOffice(t, func(o *office) {
		t := o.t
		observed := actorstest.Observed(o.at)
		lock := o.system.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/late"}))
		first, err := observed.Await(t.Context(), "/late")
		require.NoError(t, err)
		held, err := first.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		late := actorstest.NewRecorder(o.system)
		late.Observe(lock)
		now, err := late.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		require.Equal(t, messages.Transition{Grant: held.Grant, To: messages.StateHeld, On: "Observe", Session: held.Session, At: now.At}, now)
		o.system.Root.Send(lock, &messages.Release{})
		_, err = actorstest.AwaitNotice[*messages.Released](t.Context(), late)
		require.NoError(t, err)
		require.NoError(t, actorstest.Match(late.States(),
			actorstest.InOrder(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...))
	})
}
