package actorstest_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// watched runs a function with a session on a server of its own, for goroutines that look at lock
// actors from outside.
func watched(run func(ctx context.Context, system *actor.ActorSystem, session *actors.Session) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	cfg, err := zkconn.NewConfig(server.Addr(), zkconn.WithSessionTimeout(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	system := actor.NewActorSystem(actor.WithLoggerFactory(silent))
	defer system.Shutdown()
	session, err := actors.StartSession(system, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close(ctx)
	if err := run(ctx, system, session); err != nil {
		fmt.Println(err)
	}
}

// A test follows a lock actor from outside: it waits for states instead of for time, and looks at
// the way that was taken in the end.
func ExampleRecorder() {
	watched(func(ctx context.Context, system *actor.ActorSystem, session *actors.Session) error {
		recorder := actorstest.NewRecorder(system)
		defer recorder.Close()
		lock := system.Root.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42"},
			actors.WithObserver(recorder.PID())))
		if _, err := recorder.Await(ctx, messages.StateHeld); err != nil {
			return err
		}
		system.Root.Send(lock, &messages.Release{})
		last, err := recorder.Await(ctx, messages.StateReleased)
		if err != nil {
			return err
		}
		fmt.Println(last.From, "→", last.To, "because of", last.On)
		return actorstest.Match(recorder.States(),
			actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing), // a first use of a path lists
			actorstest.Then(messages.StateHeld), actorstest.Then(messages.StateReleasing),
			actorstest.Then(messages.StateReleased))
	})
	// Output: releasing → released because of Deleted
}

// A waiter, and the one before it.
func ExampleRecorder_Await() {
	watched(func(ctx context.Context, system *actor.ActorSystem, session *actors.Session) error {
		follow := func() (*actor.PID, *actorstest.Recorder) {
			recorder := actorstest.NewRecorder(system)
			return system.Root.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42", Mode: messages.Exclusive},
				actors.WithObserver(recorder.PID()))), recorder
		}
		first, before := follow()
		if _, err := before.Await(ctx, messages.StateHeld); err != nil {
			return err
		}
		_, behind := follow()
		if _, err := behind.Await(ctx, messages.StateWatching); err != nil {
			return err
		}
		system.Root.Send(first, &messages.Release{})
		held, err := behind.Await(ctx, messages.StateHeld)
		if err != nil {
			return err
		}
		fmt.Println("a greater token:", held.Token > before.Transitions()[len(before.Transitions())-1].Token)
		return actorstest.Match(behind.States(), actorstest.Then(messages.StateCreating), actorstest.Whatever(),
			actorstest.Then(messages.StateWatching), actorstest.Whatever(), actorstest.Then(messages.StateHeld))
	})
	// Output: a greater token: true
}

// The states of a lock actor are compared with a pattern. The error says where they part.
func ExampleMatch() {
	states := []messages.State{messages.StateCreating, messages.StateListing, messages.StateWatching, messages.StateHeld}
	fmt.Println(actorstest.Match(states,
		actorstest.Then(messages.StateCreating), actorstest.Whatever(), actorstest.Then(messages.StateHeld)))
	fmt.Println(actorstest.Match(states, actorstest.InOrder(messages.StateCreating, messages.StateHeld)...))
	// Output:
	// <nil>
	// after creating: listing, want held
}

// States that come one right after the other, and no others.
func ExampleInOrder() {
	states := []messages.State{messages.StateHeld, messages.StateReleasing, messages.StateReleased}
	pattern := actorstest.InOrder(messages.StateHeld, messages.StateReleasing, messages.StateReleased)
	fmt.Println(actorstest.Story(states), "-", actorstest.Match(states, pattern...))
	// Output: held → releasing → released - <nil>
}
