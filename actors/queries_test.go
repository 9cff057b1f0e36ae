package actors

import (
	"context"
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

// TestAskAsItsContextEnds: Ask sends nothing when its context has ended. When the context ends as
// the answer comes, the answer counts. Select may take either, so it is tried many times.
func TestAskAsItsContextEnds(t *testing.T) {
	session, _ := spied(t, embedded.Run(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := session.Ask(endsAnswered{ended, session}, messages.ReadInside{Root: "/"})
	require.ErrorIs(t, err, context.Canceled)
	for range 64 {
		answer, err := session.Ask(endsAnswered{t.Context(), session}, messages.ReadInside{Root: "/"})
		require.NoError(t, err)
		require.IsType(t, &messages.Inside{}, answer)
	}
}

// endsAnswered is a context that has ended once its session has answered what it was asked before.
type endsAnswered struct {
	context.Context
	session *Session
}

func (e endsAnswered) Done() <-chan struct{} {
	_, _ = e.session.Ask(context.WithoutCancel(e.Context), messages.ReadInside{Root: "/"})
	done := make(chan struct{})
	close(done)
	return done
}
