package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestCancelOfAHolderGivesBack(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.Spawn(t, "/cancelled-holder")
		held := r.Hold(t)
		r.Send(&messages.Cancel{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonCancelled}}, r.Finish(t))
		require.Empty(t, o.Queue(t, "/cancelled-holder"))
		stage.RequireMatch(t, r, stage.Straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

// TestCommandsByValueAndByPointer: both forms of a command are understood.
func TestCommandsByValueAndByPointer(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		for _, command := range []any{&messages.Release{}, messages.Release{}, &messages.Cancel{}, messages.Cancel{}} {
			r := s.Spawn(t, "/forms")
			r.Hold(t)
			r.Send(command)
			require.Len(t, r.Finish(t), 1)
		}
		for _, command := range []any{&messages.Revoke{}, messages.Revoke{}} {
			r := s.Spawn(t, "/forms")
			held := r.Hold(t)
			r.Send(command)
			require.Equal(t, &messages.RevokeRequested{Grant: held.Grant}, stage.Notice[*messages.RevokeRequested](t, r))
			r.Send(command) // asking again says nothing new
			r.Send(&messages.Release{})
			require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.Finish(t))
		}
		stories.AwaitNone(t, at, "/forms")
	})
}

// TestReleaseOfAWaiter: it gives up, and is told that it asked for that.
func TestReleaseOfAWaiter(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/giving-up")
		held := holder.Hold(t)
		waiter := s.Spawn(t, "/giving-up")
		node := patient.Await(t, waiter.Rec, messages.StateWatching).Node
		require.Equal(t, []string{held.Node, node}, o.Queue(t, "/giving-up"))
		waiter.Send(&messages.Release{})
		require.Equal(t, messages.ReasonReleased, stage.Notice[*messages.Cancelled](t, waiter).Reason)
		require.Empty(t, waiter.Finish(t))
		require.Equal(t, []string{held.Node}, o.Queue(t, "/giving-up"))
		stage.RequireMatch(t, waiter, stage.Waited(messages.StateReleasing, messages.StateCancelled)...)
	})
}
