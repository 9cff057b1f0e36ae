package actors

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestOwnersEnd releases its lock, and takes its waiter out of the queue.
func TestOwnersEnd(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, others, o := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect()), scene.Look(t, at)
	owner := s.System.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	owned := s.Spawn(t, "/owned", actors.WithOwner(owner))
	held := owned.Hold(t)
	others.Spawn(t, "/other").Holds(t)
	waiter := s.Spawn(t, "/other", actors.WithOwner(owner)).Waits(t)
	next := others.Spawn(t, "/owned").Waits(t)

	s.System.Root.Poison(owner)
	require.Equal(t, messages.ReasonOwnerGone, scene.Notice[*messages.Cancelled](t, waiter).Reason)
	require.Empty(t, waiter.Finish(t))
	require.Len(t, o.Queue(t, "/other"), 1)
	scene.RequireMatch(t, waiter, scene.Waited(messages.StateReleasing, messages.StateCancelled)...)
	o.AwaitQueue(t, "/owned", []string{next.Hold(t).Node})
	require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonOwnerGone}}, owned.Finish(t))
	scene.RequireMatch(t, owned, scene.Straight(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...)
}

// TestOwnerThatIsGoneAlready: an owner that ended before its lock actor was spawned is an owner that has
// ended.
func TestOwnerThatIsGoneAlready(t *testing.T) {
	at := scene.OnEmbedded(t)
	s := scene.NewStage(t, at.Connect())
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
	scene.AwaitNone(t, at, "/orphaned")
}
