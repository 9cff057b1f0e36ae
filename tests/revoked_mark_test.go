package tests

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestForceIsSeenBeforeTheNextHolds: when a lock is given back by force, its lease is over before anybody else holds,
// whether or not its owner has read the notice.
func TestForceIsSeenBeforeTheNextHolds(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others := newStage(t, at.Connect()), newStage(t, at.Connect())
		var mark atomic.Bool
		holder := s.spawnFor(t, messages.Acquire{Path: "/forced", Grace: time.Millisecond}, actors.WithRevokedMark(&mark))
		holder.hold(t)
		next := others.spawn(t, "/forced")
		await(t, next.rec, messages.StateWatching)
		require.False(t, mark.Load())
		holder.send(&messages.Revoke{})
		next.hold(t)
		require.True(t, mark.Load())
	})
}
