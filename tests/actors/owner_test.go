package actors

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// idle spawns an actor that does nothing, to own a lock.
func idle(t *testing.T, s *stage.Stage) *actor.PID {
	t.Helper()
	pid := s.System.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	patient.Cleanup(t, func() { s.System.Root.Stop(pid) })
	return pid
}

func TestOwnersEndReleases(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		owner := idle(t, s)
		owned := s.Spawn(t, "/owned", actors.WithOwner(owner))
		held := owned.Hold(t)
		next := others.Spawn(t, "/owned")
		patient.Await(t, next.Rec, messages.StateWatching)

		s.System.Root.Stop(owner)
		got := next.Hold(t)
		o.AwaitQueue(t, "/owned", []string{got.Node})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonOwnerGone}}, owned.Finish(t))
		stage.RequireMatch(t, owned, stage.Straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

func TestOwnersEndTakesAWaiterOutOfTheQueue(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/owned")
		held := holder.Hold(t)
		owner := idle(t, s)
		waiter := s.Spawn(t, "/owned", actors.WithOwner(owner))
		patient.Await(t, waiter.Rec, messages.StateWatching)

		s.System.Root.Poison(owner)
		require.Equal(t, messages.ReasonOwnerGone, stage.Notice[*messages.Cancelled](t, waiter).Reason)
		require.Empty(t, waiter.Finish(t))
		require.Equal(t, []string{held.Node}, o.Queue(t, "/owned"))
		stage.RequireMatch(t, waiter, stage.Waited(messages.StateReleasing, messages.StateCancelled)...)
	})
}

// TestOwnerThatIsGoneAlready: an owner that ended before its lock actor was spawned is an owner that has
// ended.
func TestOwnerThatIsGoneAlready(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		stopped := make(chan struct{})
		owner := s.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Stopped); ok {
				close(stopped)
			}
		}))
		s.System.Root.Stop(owner)
		<-stopped
		r := s.Spawn(t, "/orphaned", actors.WithOwner(owner))
		rest := r.Finish(t)
		require.NotEmpty(t, rest)
		switch last := rest[len(rest)-1].(type) {
		case *messages.Cancelled:
			require.Equal(t, messages.ReasonOwnerGone, last.Reason)
		case *messages.Released: // it held before it heard
			require.Equal(t, messages.ReasonOwnerGone, last.Reason)
		default:
			t.Fatalf("ended with %T", last)
		}
		stories.AwaitNone(t, at, "/orphaned")
	})
}
