package tests

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// idle spawns an actor that does nothing: somebody who owns a lock.
func (s *stage) idle(t *testing.T) *actor.PID {
	t.Helper()
	pid := s.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	t.Cleanup(func() { s.system.Root.Stop(pid) })
	return pid
}

func TestOwnersEndReleases(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		owner := s.idle(t)
		owned := s.spawn(t, "/owned", actors.WithOwner(owner))
		held := owned.hold(t)
		next := others.spawn(t, "/owned")
		await(t, next.rec, messages.StateWatching)

		s.system.Root.Stop(owner)
		got := next.hold(t)
		o.awaitQueue(t, "/owned", []string{got.Node})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonOwnerGone}}, owned.finish(t))
		requireMatch(t, owned, straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
	})
}

func TestOwnersEndTakesAWaiterOutOfTheQueue(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/owned")
		held := holder.hold(t)
		owner := s.idle(t)
		waiter := s.spawn(t, "/owned", actors.WithOwner(owner))
		await(t, waiter.rec, messages.StateWatching)

		s.system.Root.Poison(owner)
		require.Equal(t, messages.ReasonOwnerGone, notice[*messages.Cancelled](t, waiter).Reason)
		require.Empty(t, waiter.finish(t))
		require.Equal(t, []string{held.Node}, o.queue(t, "/owned"))
		requireMatch(t, waiter, waited(messages.StateReleasing, messages.StateCancelled)...)
	})
}

// TestOwnerThatIsGoneAlready: an owner that ended before its lock actor was spawned is an owner that has
// ended.
func TestOwnerThatIsGoneAlready(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		stopped := make(chan struct{})
		owner := s.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Stopped); ok {
				close(stopped)
			}
		}))
		s.system.Root.Stop(owner)
		<-stopped
		r := s.spawn(t, "/orphaned", actors.WithOwner(owner))
		rest := r.finish(t)
		require.NotEmpty(t, rest)
		switch last := rest[len(rest)-1].(type) {
		case *messages.Cancelled:
			require.Equal(t, messages.ReasonOwnerGone, last.Reason)
		case *messages.Released: // it held before it heard
			require.Equal(t, messages.ReasonOwnerGone, last.Reason)
		default:
			t.Fatalf("ended with %T", last)
		}
		awaitNone(t, at, "/orphaned")
	})
}
