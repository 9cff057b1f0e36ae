package tests

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// slowToHear is a listener that takes its time to hear that its lock is taken away.
type slowToHear struct{ forced atomic.Bool }

func (*slowToHear) Moved(messages.State, string) {}

func (s *slowToHear) Hear(_ *actor.PID, notice any) {
	if _, revoked := notice.(*messages.Revoked); revoked {
		time.Sleep(100 * time.Millisecond)
		s.forced.Store(true)
	}
}

// TestForceIsHeardBeforeTheNextHolds: the node of a lock that is given back by force is not deleted
// before the holder's listener has heard of it.
func TestForceIsHeardBeforeTheNextHolds(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others := newStage(t, at.Connect()), newStage(t, at.Connect())
		listener := &slowToHear{}
		holder := s.spawnFor(t, messages.Acquire{Path: "/forced", Grace: time.Millisecond}, actors.WithListener(listener))
		holder.hold(t)
		next := others.spawn(t, "/forced")
		await(t, next.rec, messages.StateWatching)
		require.False(t, listener.forced.Load())
		holder.send(&messages.Revoke{})
		next.hold(t)
		require.True(t, listener.forced.Load())
	})
}

// TestForceEndsTheLeaseBeforeTheNextHolds: a lease that was given back by force is over, for whoever
// looks at it, before anybody else holds, in this process or another.
func TestForceEndsTheLeaseBeforeTheNextHolds(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := open(t, at.Connect()), open(t, at.Connect())
		for _, other := range []*locks.Client{one, two} {
			for path, lock := range map[string]lockKind{"/mutex": exclusively, "/rw": writing, "/contest": contesting} {
				lease, err := lock(one, path, locks.WithGrace(time.Millisecond))(deadline(t))
				require.NoError(t, err)
				rec := recorder(t, other)
				got := elsewhere(deadline(t), lock(other, path, observedBy(rec)))
				await(t, rec, messages.StateWatching)
				_, err = two.Revoke(deadline(t), path)
				require.NoError(t, err)
				next := receive(t, got)
				require.False(t, lease.Valid())
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
				require.NoError(t, next.err)
				giveBack(t, next.lease)
				require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrRevoked)
			}
		}
	})
}
