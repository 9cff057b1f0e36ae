package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

func TestAcquireTimeoutPasses(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		holder := others.spawn(t, "/timeout")
		held := holder.hold(t)
		for _, from := range []*stage{s, others} { // behind another session, and behind our own
			r := from.spawnFor(t, messages.Acquire{Path: "/timeout", Timeout: 100 * time.Millisecond})
			require.Equal(t, messages.ReasonTimeout, notice[*messages.Cancelled](t, r).Reason)
			require.Empty(t, r.finish(t))
			require.Equal(t, []string{held.Node}, o.queue(t, "/timeout"))
			requireMatch(t, r, actorstest.Then(messages.StateCreating), actorstest.Whatever(),
				actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled))
		}
	})
}

// TestAcquireTimeoutAfterTheGrant: a holder has all the time it wants. Another request, with a longer
// timeout that begins later, is the clock.
func TestAcquireTimeoutAfterTheGrant(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		// Where the machine is so slow that the grant comes too late, a longer timeout is tried.
		for timeout := time.Second; ; timeout *= 2 {
			r := s.spawnFor(t, messages.Acquire{Path: "/in-time", Timeout: timeout})
			if _, err := r.rec.Await(deadline(t), messages.StateHeld); err != nil {
				require.Less(t, timeout, bound, err)
				continue
			}
			held := notice[*messages.Held](t, r)
			clock := s.spawnFor(t, messages.Acquire{Path: "/in-time", Timeout: timeout + 50*time.Millisecond})
			require.Equal(t, messages.ReasonTimeout, notice[*messages.Cancelled](t, clock).Reason)
			require.Equal(t, []string{held.Node}, o.queue(t, "/in-time"))
			require.Empty(t, r.told)
			requireMatch(t, r, straight(messages.StateHeld)...)
			return
		}
	})
}

func TestTryBehindAnother(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		holder := others.spawn(t, "/try")
		held := holder.hold(t)
		for _, from := range []*stage{s, others} {
			r := from.spawnFor(t, messages.Acquire{Path: "/try", Try: true})
			require.Equal(t, messages.ReasonNotAcquired, notice[*messages.Cancelled](t, r).Reason)
			require.Empty(t, r.finish(t))
			require.Equal(t, []string{held.Node}, o.queue(t, "/try"))
			requireMatch(t, r, actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
				actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateCancelled))
		}
		holder.send(&messages.Release{})
		holder.finish(t)
		s.spawnFor(t, messages.Acquire{Path: "/try", Try: true}).hold(t)
	})
}

func TestTryAmongForeignChildren(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		for _, name := range foreign {
			o.plant(t, "/try-foreign/"+name, "")
		}
		r := s.spawnFor(t, messages.Acquire{Path: "/try-foreign", Try: true})
		held := r.hold(t)
		require.Equal(t, []string{held.Node}, o.queue(t, "/try-foreign"))
		requireMatch(t, r, actorstest.InOrder(messages.StateCreating, messages.StateHeld)...)
	})
}
