package actorstest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// end is the end of a test. It returns how the test has failed, "" if it has not.
func end(e *scene.Example) (failed string) {
	defer func() { failed, _ = recover().(string) }()
	e.End()
	return ""
}

// TestStart: everything is there, works, and has ended at the end of the test: actors that are left
// have stopped while they still had the session, and the session has ended at the server.
func TestStart(t *testing.T) {
	t.Parallel()
	e := new(scene.Example)
	kit := actorstest.Start(e)
	events := make(chan string, 10)
	kit.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			ctx.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42"}))
		case *messages.Held:
			events <- "held"
		case *actor.Stopped:
			events <- fmt.Sprint("stopped, session: ", kit.Session.Err())
		}
	}))
	require.Equal(t, "held", <-events)
	require.Len(t, kit.Server.Sessions(), 1)
	require.Empty(t, end(e))
	require.Equal(t, "stopped, session: <nil>", <-events)
	require.ErrorIs(t, kit.Session.Err(), actors.ErrSessionClosed)
	require.Empty(t, kit.Server.Sessions())
}

// TestStartFindsGoroutines: also one that an actor has started, and not those of a test beside it.
func TestStartFindsGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the wait for the goroutine takes no time here
		goOn, beside := make(chan struct{}), make(chan struct{})
		defer close(beside)
		go leak(beside)
		e := new(scene.Example)
		kit := actorstest.Start(e, embedded.WithoutNetwork())
		kit.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, starts := ctx.Message().(*actor.Started); starts {
				go leak(goOn)
			}
		}))
		failed := end(e)
		require.Contains(t, failed, "goroutines that the test has started are left:\n1 @ ")
		require.Contains(t, failed, "actorstest_test.leak")
		close(goOn)
	})
}

func leak(until <-chan struct{}) { <-until }

// TestStartNamesActorsThatDoNotStop: the test fails, and says which.
func TestStartNamesActorsThatDoNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, goOn, busy := new(scene.Example), make(chan struct{}), make(chan struct{})
		kit := actorstest.Start(e, embedded.WithoutNetwork())
		_, err := kit.System.Root.SpawnNamed(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, starts := ctx.Message().(*actor.Started); starts {
				close(busy)
				<-goOn
			}
		}), "stubborn")
		require.NoError(t, err)
		<-busy
		time.AfterFunc(90*time.Second, func() { close(goOn) })
		require.Equal(t, "actors do not stop: stubborn", end(e))
	})
}

// TestStartInABubble: a lease is lost in virtual time.
func TestStartInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kit := actorstest.Start(t, embedded.WithoutNetwork())
		recorder := actorstest.NewRecorder(kit.System)
		kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42"}, actors.WithObserver(recorder.PID())))
		_, err := actorstest.AwaitNotice[*messages.Held](t.Context(), recorder)
		require.NoError(t, err)
		kit.Server.Replica(0).Stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		lost, err := actorstest.AwaitNotice[*messages.Lost](ctx, recorder)
		require.NoError(t, err)
		require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
	})
}
