package actorstest_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestObserved: the lock actors that others spawn are followed one by one, in the order in which they
// were spawned for a path: of an actor, of an activated one and of a singleton.
func TestObserved(t *testing.T) {
	kit := actorstest.Start(t)
	observed := actorstest.Observed(kit.Session)
	pid, told := owner(kit.System, observed)
	idle := func(actor.Context) {}
	kit.System.Root.Spawn(actor.PropsFromFunc(idle, activation.Single(observed, activation.At(messages.Acquire{Path: "/activated"}))))
	kit.System.Root.Spawn(actors.NewSingleton(observed, messages.Acquire{Path: "/singleton"}, actor.PropsFromFunc(idle)))
	for _, path := range []string{"/activated", "/singleton"} {
		recorder, err := observed.Await(t.Context(), path)
		require.NoError(t, err)
		_, err = recorder.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
	}

	var last messages.Token
	for range 3 {
		kit.System.Root.Send(pid, messages.Acquire{Path: "/orders/42"})
		recorder, err := observed.Await(t.Context(), "/orders/42")
		require.NoError(t, err)
		held, err := actorstest.AwaitNotice[*messages.Held](t.Context(), recorder)
		require.NoError(t, err)
		require.Equal(t, held, next[*messages.Held](t, told))
		require.Greater(t, held.Token, last)
		last = held.Token
		kit.System.Root.Send(pid, &messages.Release{})
		released, err := actorstest.AwaitNotice[*messages.Released](t.Context(), recorder)
		require.NoError(t, err)
		require.Equal(t, released, next[*messages.Released](t, told))
		require.Equal(t, messages.StateCreating, recorder.States()[0])
	}
}

// TestObservedSession: what works with a session works with one that is observed. Its singleton stops
// while it still has its lock, because the session says that it is about to close.
func TestObservedSession(t *testing.T) {
	kit := actorstest.Start(t)
	observed := actorstest.Observed(kit.Session)
	require.Equal(t, kit.Session.Timeout(), observed.Timeout())
	events := make(chan any, 10)
	var by *actors.Activation
	kit.System.Root.Spawn(actors.NewSingleton(observed, messages.Acquire{Path: "/one"}, actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actors.Activation:
			by = msg
			events <- msg
		case *actor.Stopping:
			events <- by.Valid()
		}
	})))
	next[*actors.Activation](t, events)
	require.NoError(t, kit.Session.Close(t.Context()))
	require.True(t, next[bool](t, events))

	fake := actorstest.Observed(new(actorstest.Fake))
	require.Zero(t, fake.Timeout())
	fake.BeforeClose(func() { t.Error("a Fake is not closed") })()
}

// TestObservedName: a name that is in use is refused as ever.
func TestObservedName(t *testing.T) {
	kit := actorstest.Start(t)
	props := actors.NewLock(actorstest.Observed(kit.Session), messages.Acquire{Path: "/a", Timeout: time.Minute})
	first, err := kit.System.Root.SpawnNamed(props, "lock")
	require.NoError(t, err)
	second, err := kit.System.Root.SpawnNamed(props, "lock")
	require.ErrorIs(t, err, actor.ErrNameExists)
	require.True(t, first.Equal(second))
	require.PanicsWithValue(t, "turnstile: actors.NewLock: the session is nil",
		func() { actors.NewLock(actorstest.Observed((*actors.Session)(nil)), messages.Acquire{Path: "/a"}) })
}
