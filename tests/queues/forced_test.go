package queues

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
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
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others := stage.New(t, at.Connect()), stage.New(t, at.Connect())
		listener := &slowToHear{}
		holder := s.SpawnFor(t, messages.Acquire{Path: "/forced", Grace: time.Millisecond}, actors.WithListener(listener))
		holder.Hold(t)
		next := others.Spawn(t, "/forced")
		patient.Await(t, next.Rec, messages.StateWatching)
		require.False(t, listener.forced.Load())
		holder.Send(&messages.Revoke{})
		next.Hold(t)
		require.True(t, listener.forced.Load())
	})
}
