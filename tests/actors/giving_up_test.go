package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestAcquireTimeoutPasses(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := others.Spawn(t, "/timeout")
		held := holder.Hold(t)
		for _, from := range []*stage.Stage{s, others} { // behind another session, and behind our own
			r := from.SpawnFor(t, messages.Acquire{Path: "/timeout", Timeout: 100 * time.Millisecond})
			require.Equal(t, messages.ReasonTimeout, stage.Notice[*messages.Cancelled](t, r).Reason)
			require.Empty(t, r.Finish(t))
			require.Equal(t, []string{held.Node}, o.Queue(t, "/timeout"))
			stage.RequireMatch(t, r, actorstest.Then(messages.StateCreating), actorstest.Whatever(),
				actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled))
		}
	})
}

// TestAcquireTimeoutAfterTheGrant: a holder has all the time it wants. Another request, with a longer
// timeout that begins later, is the clock.
func TestAcquireTimeoutAfterTheGrant(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		// Where the machine is so slow that the grant comes too late, a longer timeout is tried.
		for timeout := time.Second; ; timeout *= 2 {
			r := s.SpawnFor(t, messages.Acquire{Path: "/in-time", Timeout: timeout})
			if _, err := r.Rec.Await(patient.Deadline(t), messages.StateHeld); err != nil {
				require.Less(t, timeout, patient.Bound, err)
				continue
			}
			held := stage.Notice[*messages.Held](t, r)
			clock := s.SpawnFor(t, messages.Acquire{Path: "/in-time", Timeout: timeout + 50*time.Millisecond})
			require.Equal(t, messages.ReasonTimeout, stage.Notice[*messages.Cancelled](t, clock).Reason)
			require.Equal(t, []string{held.Node}, o.Queue(t, "/in-time"))
			require.Empty(t, r.Told)
			stage.RequireMatch(t, r, stage.Straight(messages.StateHeld)...)
			return
		}
	})
}

func TestTryBehindAnother(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := others.Spawn(t, "/try")
		held := holder.Hold(t)
		for _, from := range []*stage.Stage{s, others} {
			r := from.SpawnFor(t, messages.Acquire{Path: "/try", Try: true})
			require.Equal(t, messages.ReasonNotAcquired, stage.Notice[*messages.Cancelled](t, r).Reason)
			require.Empty(t, r.Finish(t))
			require.Equal(t, []string{held.Node}, o.Queue(t, "/try"))
			stage.RequireMatch(t, r, actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
				actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled))
		}
		holder.Send(&messages.Release{})
		holder.Finish(t)
		s.SpawnFor(t, messages.Acquire{Path: "/try", Try: true}).Hold(t)
	})
}

func TestTryAmongForeignChildren(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		for _, name := range foreign {
			o.Plant(t, "/try-foreign/"+name, "")
		}
		r := s.SpawnFor(t, messages.Acquire{Path: "/try-foreign", Try: true})
		held := r.Hold(t)
		require.Equal(t, []string{held.Node}, o.Queue(t, "/try-foreign"))
		stage.RequireMatch(t, r, actorstest.InOrder(messages.StateCreating, messages.StateHeld)...)
	})
}
