package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestWithGoZookeepersLock: contenders of both kinds stand in one queue, and each waits for the other.
func TestWithGoZookeepersLock(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
		first := s.Spawn(t, "/shared")
		one := first.Hold(t)
		second := scene.LockOutside(o, "/shared")
		scene.AwaitCount(t, at, "/shared", 2)
		third := s.Spawn(t, "/shared")
		scene.Await(t, third.Rec, messages.StateWatching)
		fourth := scene.LockOutside(o, "/shared")
		scene.AwaitCount(t, at, "/shared", 4)
		queue := o.Queue(t, "/shared")
		require.Equal(t, one.Node, queue[0])
		require.Empty(t, second.Held)
		tried := s.SpawnFor(t, messages.Acquire{Path: "/shared", Try: true})
		require.Equal(t, messages.ReasonNotAcquired, scene.Notice[*messages.Cancelled](t, tried).Reason)

		first.Send(&messages.Release{})
		second.Hold(t)
		o.AwaitQueue(t, "/shared", queue[1:])
		require.Empty(t, third.Told)

		require.NoError(t, second.Unlock())
		require.Equal(t, queue[2], third.Hold(t).Node)
		o.AwaitQueue(t, "/shared", queue[2:])
		require.Empty(t, fourth.Held)

		third.Send(&messages.Release{})
		fourth.Hold(t)
		o.AwaitQueue(t, "/shared", queue[3:])
		require.NoError(t, fourth.Unlock())
		scene.AwaitNone(t, at, "/shared")
	})
}
