package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOwnNodesThatAreUnused: the session tells which of its own nodes nobody holds or waits with
// any more; it knows nothing of other sessions' nodes. The coordinator decides when a node is
// unused: see its stories.
func TestOwnNodesThatAreUnused(t *testing.T) {
	handle, inside := spied(t, embedded.Run(t))
	lock, rec := spawnRecorded(handle, messages.Acquire{Path: "/used"})
	held, err := rec.await(t.Context(), messages.StateHeld, 1)
	require.NoError(t, err)
	unused := func(owner int64) (is bool) {
		inside(func(s *session) { is = s.unused(messages.Contender{Path: "/used", Node: held.Node, Session: owner}) })
		return is
	}
	require.False(t, unused(handle.ID()))
	require.False(t, unused(handle.ID()+1))
	handle.system.Root.Send(lock, &messages.Release{})
	_, err = rec.await(t.Context(), messages.StateReleased, 1)
	require.NoError(t, err)
	require.True(t, unused(handle.ID()))
	require.False(t, unused(handle.ID()+1))
}
