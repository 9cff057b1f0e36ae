package actorstest_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// quiet has an actor system log nothing.
var quiet = actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })

// watched runs a function with what it needs to look at lock actors from outside.
func watched(run func(ctx context.Context, kit *actorstest.Kit) error) {
	t := new(scene.Example) // in a test: its *testing.T
	defer t.End()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, actorstest.Start(t)); err != nil {
		fmt.Println(err)
	}
}

// A test follows a lock actor from outside: it waits for states and notices instead of for time, and
// looks at the way that was taken in the end.
func ExampleRecorder() {
	watched(func(ctx context.Context, kit *actorstest.Kit) error {
		recorder := actorstest.NewRecorder(kit.System)
		lock := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42"},
			actors.WithObserver(recorder.PID())))
		if _, err := recorder.Await(ctx, messages.StateHeld); err != nil {
			return err
		}
		kit.System.Root.Send(lock, &messages.Release{})
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
	watched(func(ctx context.Context, kit *actorstest.Kit) error {
		follow := func(label string) (*actor.PID, *actorstest.Recorder) {
			recorder := actorstest.NewRecorder(kit.System)
			return kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42", Label: label},
				actors.WithObserver(recorder.PID()))), recorder
		}
		first, before := follow("billing")
		if _, err := before.Await(ctx, messages.StateHeld); err != nil {
			return err
		}
		_, behind := follow("audit")
		told, err := actorstest.AwaitNotice[*messages.Behind](ctx, behind)
		if err != nil {
			return err
		}
		fmt.Println("waits for:", told.Contender.Label)
		kit.System.Root.Send(first, &messages.Release{})
		held, err := behind.Await(ctx, messages.StateHeld)
		if err != nil {
			return err
		}
		fmt.Println("a greater token:", held.Token > before.Transitions()[len(before.Transitions())-1].Token)
		return actorstest.Match(behind.States(), actorstest.Then(messages.StateCreating), actorstest.Whatever(),
			actorstest.Then(messages.StateWatching), actorstest.Whatever(), actorstest.Then(messages.StateHeld))
	})
	// Output:
	// waits for: billing
	// a greater token: true
}

// A notice is awaited by its type, and by what it says. The error tells what came instead.
func ExampleAwaitNotice() {
	watched(func(ctx context.Context, kit *actorstest.Kit) error {
		recorder := actorstest.NewRecorder(kit.System)
		kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42"},
			actors.WithObserver(recorder.PID())))
		held, err := actorstest.AwaitNotice[*messages.Held](ctx, recorder)
		if err != nil {
			return err
		}
		fmt.Println("held", held.Path)
		if err := kit.Server.Expire(kit.Session.ID()); err != nil {
			return err
		}
		_, err = actorstest.AwaitNotice(ctx, recorder,
			func(lost *messages.Lost) bool { return lost.Reason == messages.ReasonNodeDeleted })
		fmt.Println(strings.Contains(err.Error(), "told Held"), strings.Contains(err.Error(), "Reason:the session has expired"))
		return nil
	})
	// Output:
	// held /orders/42
	// true true
}

// The lock actors that the code under test spawns are followed by their lock path.
func ExampleObserved() {
	watched(func(ctx context.Context, kit *actorstest.Kit) error {
		observed := actorstest.Observed(kit.Session)
		kit.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) { // the code under test
			if _, starts := ctx.Message().(*actor.Started); starts {
				ctx.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/orders/42"}))
			}
		}))
		recorder, err := observed.Await(ctx, "/orders/42")
		if err != nil {
			return err
		}
		_, err = recorder.Await(ctx, messages.StateHeld)
		fmt.Println("held:", err == nil)
		return err
	})
	// Output: held: true
}

// The lock actors of a Fake do what the test says. There is no server.
func ExampleFake() {
	system, fake := actor.NewActorSystem(quiet), new(actorstest.Fake)
	defer system.Shutdown()
	told := make(chan string)
	system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) { // the code under test
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			ctx.Spawn(actors.NewLock(fake, messages.Acquire{Path: "/orders/42"}))
		case *messages.Held:
			told <- "held"
		case *messages.Suspended:
			told <- "suspended"
		case *messages.Lost:
			told <- "lost: " + string(msg.Reason)
		}
	}))
	lock, err := fake.Await(context.Background(), "/orders/42")
	if err != nil {
		fmt.Println(err)
		return
	}
	lock.Hold()
	fmt.Println(<-told)
	lock.Suspend()
	fmt.Println(<-told)
	lock.Lose(messages.ReasonSessionExpired)
	fmt.Println(<-told)
	// Output:
	// held
	// suspended
	// lost: the session has expired
}

// A recorder that comes late is told the current state first.
func ExampleRecorder_Observe() {
	watched(func(ctx context.Context, kit *actorstest.Kit) error {
		lock := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/orders/42"}))
		recorder := actorstest.NewRecorder(kit.System)
		recorder.Observe(lock)
		now, err := recorder.Await(ctx, messages.StateHeld) // it holds, or is about to
		fmt.Println(now.To)
		return err
	})
	// Output: held
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
