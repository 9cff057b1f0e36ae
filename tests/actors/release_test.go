package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestReleasingTwiceIsReleasingOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.Spawn(t, "/twice")
		held := r.Hold(t)
		r.Send(&messages.Release{})
		r.Send(&messages.Release{})
		r.Send(&messages.Cancel{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.Finish(t))
		require.Empty(t, o.Queue(t, "/twice"))
		stage.RequireMatch(t, r, stage.Straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

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
		stories.AwaitNone(t, at, "/forms")
	})
}

func TestWaiterThatGivesUpIsCancelled(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/giving-up")
		held := holder.Hold(t)
		for _, c := range []struct {
			command any
			reason  messages.Reason
		}{
			{&messages.Release{}, messages.ReasonReleased},
			{&messages.Cancel{}, messages.ReasonCancelled},
		} {
			waiter := s.Spawn(t, "/giving-up")
			node := patient.Await(t, waiter.Rec, messages.StateWatching).Node
			require.Equal(t, []string{held.Node, node}, o.Queue(t, "/giving-up"))
			waiter.Send(c.command)
			require.Equal(t, c.reason, stage.Notice[*messages.Cancelled](t, waiter).Reason)
			require.Empty(t, waiter.Finish(t))
			require.Equal(t, []string{held.Node}, o.Queue(t, "/giving-up"))
			stage.RequireMatch(t, waiter, stage.Waited(messages.StateReleasing, messages.StateCancelled)...)
		}
	})
}

// TestGivingUpWhileCreating: the command comes right behind the spawn. The node may be made or not; when
// the end is told there is none.
func TestGivingUpWhileCreating(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/hasty")
		held := holder.Hold(t)
		for range 5 {
			waiter := s.Spawn(t, "/hasty")
			waiter.Send(&messages.Cancel{})
			require.Equal(t, messages.ReasonCancelled, stage.Notice[*messages.Cancelled](t, waiter).Reason)
			require.Equal(t, []string{held.Node}, o.Queue(t, "/hasty"))
		}
	})
}

// TestGivingUpInTheMiddle: the predecessor of the last one goes, and the last one must not take that for
// its turn.
func TestGivingUpInTheMiddle(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/middle")
		held := holder.Hold(t)
		middle := others.Spawn(t, "/middle")
		patient.Await(t, middle.Rec, messages.StateWatching)
		last := s.Spawn(t, "/middle")
		node := patient.Await(t, last.Rec, messages.StateWatching).Node

		middle.Send(&messages.Cancel{})
		stage.Notice[*messages.Cancelled](t, middle)
		_, err := last.Rec.AwaitNth(patient.Deadline(t), messages.StateWatching, 2)
		require.NoError(t, err)
		require.Equal(t, []string{held.Node, node}, o.Queue(t, "/middle"))
		require.Empty(t, last.Told)
		holder.Send(&messages.Release{})
		require.Equal(t, node, last.Hold(t).Node)
	})
}
