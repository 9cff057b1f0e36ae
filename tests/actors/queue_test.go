package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// foreign are children that are no contenders, though some look like it.
var foreign = []string{"foo", "_c_x", "lock-abc", "_c_x-lock-", "lock-12", "0000000000", "lock-99999999999999999999"}

func TestForeignChildrenArePassedOver(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, name := range foreign {
			o.Plant(t, "/foreign/"+name, "whatever")
		}
		var line []*stage.Request
		for i, from := range []*stage.Stage{s, others, s} {
			r := from.Spawn(t, "/foreign")
			line = append(line, r)
			stories.AwaitCount(t, at, "/foreign", len(foreign)+i+1)
		}
		queue := o.Queue(t, "/foreign")
		for i, r := range line {
			require.Equal(t, queue[i], r.Hold(t).Node)
			r.Send(&messages.Release{})
			r.Finish(t)
		}
		stories.AwaitCount(t, at, "/foreign", len(foreign))
		stage.RequireMatch(t, line[0], actorstest.InOrder(messages.StateCreating, messages.StateHeld,
			messages.StateReleasing, messages.StateReleased)...)
	})
}

// TestWithGoZookeepersLock: contenders of both kinds stand in one queue, and each waits for the other.
func TestWithGoZookeepersLock(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		first := s.Spawn(t, "/shared")
		one := first.Hold(t)
		second := stories.LockOutside(o, "/shared")
		stories.AwaitCount(t, at, "/shared", 2)
		third := s.Spawn(t, "/shared")
		patient.Await(t, third.Rec, messages.StateWatching)
		fourth := stories.LockOutside(o, "/shared")
		stories.AwaitCount(t, at, "/shared", 4)
		queue := o.Queue(t, "/shared")
		require.Equal(t, one.Node, queue[0])
		require.Empty(t, second.Held)

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
		stories.AwaitNone(t, at, "/shared")
	})
}

// TestBehindGoZookeepersLock: a holder of the other kind is a holder, also for one that only tries, and
// also where its session ends instead of giving back.
func TestBehindGoZookeepersLock(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		theirs := stories.Look(t, at)
		holder := stories.LockOutside(theirs, "/behind")
		holder.Hold(t)
		tried := s.SpawnFor(t, messages.Acquire{Path: "/behind", Try: true})
		require.Equal(t, messages.ReasonNotAcquired, stage.Notice[*messages.Cancelled](t, tried).Reason)
		waiter := s.Spawn(t, "/behind")
		patient.Await(t, waiter.Rec, messages.StateWatching)
		require.Len(t, o.Queue(t, "/behind"), 2)

		theirs.Close()
		held := waiter.Hold(t)
		require.Equal(t, []string{held.Node}, o.Queue(t, "/behind"))
	})
}
