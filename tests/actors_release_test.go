package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

func TestReleasingTwiceIsReleasingOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		r := s.spawn(t, "/twice")
		held := r.hold(t)
		r.send(&messages.Release{})
		r.send(&messages.Release{})
		r.send(&messages.Cancel{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.finish(t))
		require.Empty(t, o.queue(t, "/twice"))
		requireMatch(t, r, straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

func TestCancelOfAHolderGivesBack(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		r := s.spawn(t, "/cancelled-holder")
		held := r.hold(t)
		r.send(&messages.Cancel{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonCancelled}}, r.finish(t))
		require.Empty(t, o.queue(t, "/cancelled-holder"))
		requireMatch(t, r, straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

// TestCommandsByValueAndByPointer: both forms of a command are understood.
func TestCommandsByValueAndByPointer(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		for _, command := range []any{&messages.Release{}, messages.Release{}, &messages.Cancel{}, messages.Cancel{}} {
			r := s.spawn(t, "/forms")
			r.hold(t)
			r.send(command)
			require.Len(t, r.finish(t), 1)
		}
		awaitNone(t, at, "/forms")
	})
}

func TestWaiterThatGivesUpIsCancelled(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/giving-up")
		held := holder.hold(t)
		for _, c := range []struct {
			command any
			reason  messages.Reason
		}{
			{&messages.Release{}, messages.ReasonReleased},
			{&messages.Cancel{}, messages.ReasonCancelled},
		} {
			waiter := s.spawn(t, "/giving-up")
			node := await(t, waiter.rec, messages.StateWatching).Node
			require.Equal(t, []string{held.Node, node}, o.queue(t, "/giving-up"))
			waiter.send(c.command)
			require.Equal(t, c.reason, notice[*messages.Cancelled](t, waiter).Reason)
			require.Empty(t, waiter.finish(t))
			require.Equal(t, []string{held.Node}, o.queue(t, "/giving-up"))
			requireMatch(t, waiter, waited(messages.StateReleasing, messages.StateCancelled)...)
		}
	})
}

// TestGivingUpWhileCreating: the command comes right behind the spawn. The node may be made or not; when
// the end is told there is none.
func TestGivingUpWhileCreating(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/hasty")
		held := holder.hold(t)
		for range 5 {
			waiter := s.spawn(t, "/hasty")
			waiter.send(&messages.Cancel{})
			require.Equal(t, messages.ReasonCancelled, notice[*messages.Cancelled](t, waiter).Reason)
			require.Equal(t, []string{held.Node}, o.queue(t, "/hasty"))
		}
	})
}

// TestGivingUpInTheMiddle: the predecessor of the last one goes, and the last one must not take that for
// its turn.
func TestGivingUpInTheMiddle(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/middle")
		held := holder.hold(t)
		middle := others.spawn(t, "/middle")
		await(t, middle.rec, messages.StateWatching)
		last := s.spawn(t, "/middle")
		node := await(t, last.rec, messages.StateWatching).Node

		middle.send(&messages.Cancel{})
		notice[*messages.Cancelled](t, middle)
		_, err := last.rec.AwaitNth(deadline(t), messages.StateWatching, 2)
		require.NoError(t, err)
		require.Equal(t, []string{held.Node, node}, o.queue(t, "/middle"))
		require.Empty(t, last.told)
		holder.send(&messages.Release{})
		require.Equal(t, node, last.hold(t).Node)
	})
}
