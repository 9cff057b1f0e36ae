package actorstest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// lockOf spawns a lock actor of a Fake at the root.
func lockOf(t *testing.T, system *actor.ActorSystem) *actorstest.FakeLock {
	t.Helper()
	fake := new(actorstest.Fake)
	system.Root.Spawn(actors.NewLock(fake, messages.Acquire{Path: "/orders/42"}))
	lock, err := fake.Await(t.Context(), "/orders/42")
	require.NoError(t, err)
	return lock
}

func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// TestAwaitNotice: the first of its type that fits, whether it has come or is to come. Each is looked
// at once, so a condition may count.
func TestAwaitNotice(t *testing.T) {
	kit := actorstest.Start(t)
	lock := lockOf(t, kit.System)
	lock.Hold()
	held, err := actorstest.AwaitNotice[*messages.Held](t.Context(), lock.Recorder)
	require.NoError(t, err)
	require.Equal(t, "/orders/42", held.Path)
	go func() {
		for _, before := range []int{3, 2, 1} {
			lock.Tell(&messages.Waiting{Before: before})
		}
	}()
	looked := 0
	waiting, err := actorstest.AwaitNotice(t.Context(), lock.Recorder,
		func(*messages.Waiting) bool { looked++; return true }, func(w *messages.Waiting) bool { return w.Before < 2 })
	require.NoError(t, err)
	require.Equal(t, 1, waiting.Before)
	require.Equal(t, 3, looked)
}

// TestAwaitNoticeSaysWhatCame: instead, when it does not come, or will not.
func TestAwaitNoticeSaysWhatCame(t *testing.T) {
	kit := actorstest.Start(t)
	lock := lockOf(t, kit.System)
	never := func(*messages.Suspended) bool { return false }
	_, err := actorstest.AwaitNotice(short(t), lock.Recorder, never)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "awaiting Suspended after creating: context deadline exceeded")
	lock.Hold()
	lock.Tell(&messages.Suspended{Until: time.Unix(0, 0).UTC()})
	_, err = actorstest.AwaitNotice[*messages.Suspended](t.Context(), lock.Recorder)
	require.NoError(t, err)
	_, err = actorstest.AwaitNotice(short(t), lock.Recorder, never)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Regexp(t, `^awaiting Suspended after creating → held → recovering, told Held, Suspended\{Grant:\{Path:/orders/42 `+
		`Node:_c_fake-lock-0000000001 .*Until:1970-01-01 00:00:00 \+0000 UTC\}: context deadline exceeded$`, err.Error())
	lock.Lose(messages.ReasonLeaseOver)
	_, err = actorstest.AwaitNotice[*messages.Resumed](t.Context(), lock.Recorder)
	require.EqualError(t, err, "awaiting Resumed: the request ended: creating → held → recovering → lost, "+
		"told Held, Suspended, Lost (the lease ran out)")
	_, err = lock.Await(t.Context(), messages.StateReleased)
	require.EqualError(t, err, "awaiting released: the request ended: creating → held → recovering → lost, "+
		"told Held, Suspended, Lost (the lease ran out)")
}

// TestAwaitGivesUp: after a minute, where ctx has no deadline.
func TestAwaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kit := actorstest.Start(t, embedded.WithoutNetwork())
		recorder, began := actorstest.NewRecorder(kit.System), time.Now()
		_, err := recorder.Await(t.Context(), messages.StateHeld)
		require.EqualError(t, err, "awaiting held after nothing: context deadline exceeded")
		_, err = actorstest.AwaitNotice[*messages.Held](t.Context(), recorder)
		require.EqualError(t, err, "awaiting Held after nothing: context deadline exceeded")
		observed := actorstest.Observed(kit.Session)
		kit.System.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/a"}))
		kit.System.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/b"}))
		kit.System.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/b"}))
		_, err = observed.Await(t.Context(), "/c")
		require.EqualError(t, err, "awaiting a lock actor for /c; spawned so far: 1 for /a, 2 for /b: context deadline exceeded")
		require.Equal(t, 3*time.Minute, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = recorder.Await(ctx, messages.StateHeld)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 63*time.Minute, time.Since(began))
	})
}

// TestObserveLate: a recorder that comes late is told the current state first, and then what follows.
// That is so of a session's lock actors, and of a Fake's.
func TestObserveLate(t *testing.T) {
	kit := actorstest.Start(t)
	for _, from := range []actors.Provider{kit.Session, &actorstest.Fake{Begin: (*actorstest.FakeLock).Hold}} {
		observed := actorstest.Observed(from)
		lock := kit.System.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/late"}))
		first, err := observed.Await(t.Context(), "/late")
		require.NoError(t, err)
		held, err := first.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)

		late := actorstest.NewRecorder(kit.System)
		late.Observe(lock)
		now, err := late.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		require.Equal(t, messages.Transition{Grant: held.Grant, To: messages.StateHeld, On: "Observe", Session: held.Session, At: now.At}, now)
		kit.System.Root.Send(lock, &messages.Release{})
		for _, recorder := range []*actorstest.Recorder{first, late} {
			_, err = actorstest.AwaitNotice[*messages.Released](t.Context(), recorder)
			require.NoError(t, err)
		}
		require.NoError(t, actorstest.Match(late.States(),
			actorstest.InOrder(messages.StateHeld, messages.StateReleasing, messages.StateReleased)...))
		require.Equal(t, first.Transitions()[len(first.Transitions())-2:], late.Transitions()[1:])

		gone := actorstest.NewRecorder(kit.System)
		require.NoError(t, kit.System.Root.StopFuture(lock).Wait())
		gone.Observe(lock)
		_, err = gone.Await(t.Context(), messages.StateHeld)
		require.EqualError(t, err, "awaiting held: the request ended: before it was observed")
	}
}

// TestObserveTwice: an observer is told everything once, and its own current state again. It keeps what it has when it is closed,
// and gives copies.
func TestObserveTwice(t *testing.T) {
	kit := actorstest.Start(t)
	recorder := actorstest.NewRecorder(kit.System)
	lock := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/twice"}, actors.WithObserver(recorder.PID())))
	_, err := actorstest.AwaitNotice[*messages.Held](t.Context(), recorder)
	require.NoError(t, err)
	recorder.Observe(lock)
	kit.System.Root.Send(lock, messages.Observe{}) // of nobody
	kit.System.Root.Send(lock, &messages.Release{})
	_, err = actorstest.AwaitNotice[*messages.Released](t.Context(), recorder)
	require.NoError(t, err)
	require.Len(t, recorder.Notices(), 2)
	require.NoError(t, actorstest.Match(recorder.States(), actorstest.Then(messages.StateCreating),
		actorstest.Maybe(messages.StateListing), actorstest.Then(messages.StateHeld), actorstest.Then(messages.StateHeld),
		actorstest.Then(messages.StateReleasing), actorstest.Then(messages.StateReleased)))
	recorder.Transitions()[0].Path = "changed"
	recorder.Close()
	require.Equal(t, "/twice", recorder.Transitions()[0].Path)
}
