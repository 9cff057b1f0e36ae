package scene

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Stage is a session actor in an actor system of its own: what an actor program has before it spawns
// lock actors.
type Stage struct {
	System  *actor.ActorSystem
	Session *actors.Session
}

// NewStage makes a stage whose session lasts, however slow the machine is. It is closed with the test.
func NewStage(t *testing.T, connect string, opts ...actors.SessionOption) *Stage {
	t.Helper()
	return NewStageFor(t, connect, Session, opts...)
}

// NewStageFor is NewStage with a session timeout.
func NewStageFor(t *testing.T, connect string, timeout time.Duration, opts ...actors.SessionOption) *Stage {
	t.Helper()
	cfg, err := zkconn.NewConfig(connect, zkconn.WithSessionTimeout(timeout))
	require.NoError(t, err)
	discard := slog.New(slog.DiscardHandler)
	s := &Stage{System: actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return discard }),
		// After a dead letter protoactor keeps a goroutine for this long, also beyond Shutdown.
		actor.WithDeadLetterThrottleInterval(10*time.Millisecond))}
	Cleanup(t, s.System.Shutdown)
	s.Session, err = actors.StartSession(s.System, cfg, opts...)
	require.NoError(t, err)
	CountRelists(t, s.Session)
	Cleanup(t, func() {
		ctx, cancel := context.WithTimeout(context.Background(), Bound)
		defer cancel()
		Closed(t, s.Session.Close(ctx))
	})
	require.NoError(t, s.Session.Ready(Deadline(t)))
	return s
}

// Request is a lock actor, the parent that spawned it, and the recorder that follows it.
type Request struct {
	Stage   *Stage
	Parent  *actor.PID
	Lock    *actor.PID
	Rec     *actorstest.Recorder
	Told    chan any      // the notices that the parent got, in order; closed behind the last one
	Stopped chan struct{} // closed when the parent has stopped
}

// lockEnded is the parent's message to itself when its lock actor has ended: Terminated overtakes the
// notices, this does not.
type lockEnded struct{}

// Spawn has a parent actor spawn a lock actor for a lock path.
func (s *Stage) Spawn(t *testing.T, path string, opts ...actors.LockOption) *Request {
	t.Helper()
	return s.SpawnFor(t, messages.Acquire{Path: path}, opts...)
}

// SpawnFor has a parent actor spawn a lock actor for an Acquire, which is followed by a recorder.
func (s *Stage) SpawnFor(t *testing.T, want messages.Acquire, opts ...actors.LockOption) *Request {
	t.Helper()
	r := &Request{Stage: s, Rec: actorstest.NewRecorder(s.System), Told: make(chan any, 100), Stopped: make(chan struct{})}
	Cleanup(t, r.Rec.Close)
	lock, over := make(chan *actor.PID, 1), false
	r.Parent = s.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			lock <- ctx.Spawn(actors.NewLock(s.Session, want, append([]actors.LockOption{actors.WithObserver(r.Rec.PID())}, opts...)...))
		case *actor.Terminated:
			ctx.Send(ctx.Self(), &lockEnded{})
		case *lockEnded:
			if !over {
				over = true
				close(r.Told)
			}
		case *actor.Stopped:
			close(r.Stopped)
		case actor.SystemMessage, actor.AutoReceiveMessage:
		case *messages.Behind: // how often it comes depends on who is faster
		default:
			r.Told <- msg
		}
	}))
	Cleanup(t, func() { s.System.Root.Stop(r.Parent) })
	r.Lock = <-lock
	return r
}

// Send sends the lock actor a message.
func (r *Request) Send(message any) { r.Stage.System.Root.Send(r.Lock, message) }

// Hold waits until the request holds.
func (r *Request) Hold(t *testing.T) *messages.Held {
	t.Helper()
	Await(t, r.Rec, messages.StateHeld)
	return Notice[*messages.Held](t, r)
}

// Waits waits until the request waits in its queue, and gives it.
func (r *Request) Waits(t *testing.T) *Request {
	t.Helper()
	Await(t, r.Rec, messages.StateWatching)
	return r
}

// Holds is Hold that returns the request.
func (r *Request) Holds(t *testing.T) *Request {
	t.Helper()
	r.Hold(t)
	return r
}

// Finish waits until the lock actor has ended and gives the notices that have not been taken yet.
func (r *Request) Finish(t *testing.T) []any {
	t.Helper()
	var rest []any
	for {
		select {
		case msg, more := <-r.Told:
			if !more {
				return rest
			}
			rest = append(rest, msg)
		case <-time.After(Bound):
			t.Fatalf("the lock actor never ended: %v", r)
		}
	}
}

// Notice takes the next notice that the parent got, which must be of the type.
func Notice[T any](t *testing.T, r *Request) T {
	t.Helper()
	var want T
	select {
	case msg, more := <-r.Told:
		if !more {
			t.Fatalf("the lock actor ended without %T: %v", want, r)
		}
		got, ok := msg.(T)
		require.Truef(t, ok, "%T %+v instead of %T", msg, msg, want)
		return got
	case <-time.After(Bound):
		t.Fatalf("no %T: %v", want, r)
	}
	return want
}

// RequireMatch holds the states of a request against a pattern. The recorder may be a little behind the
// parent: they are told at the same time.
func RequireMatch(t *testing.T, r *Request, pattern ...actorstest.Part) {
	t.Helper()
	fits := func() bool { return actorstest.Match(r.Rec.States(), pattern...) == nil }
	if !fits() {
		require.Eventually(t, fits, Bound, time.Millisecond, "never %v: %v", pattern, r)
	}
}

// String tells what a request went through so far.
func (r *Request) String() string { return actorstest.Story(r.Rec.States()) }

// Waited is the beginning of a request that met others in the queue.
func Waited(rest ...messages.State) []actorstest.Part {
	begin := []actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
		actorstest.Then(messages.StateWatching), actorstest.Maybe(messages.StateListing)}
	return append(begin, actorstest.InOrder(rest...)...)
}

// Straight is the beginning of a request that met nobody.
func Straight(rest ...messages.State) []actorstest.Part {
	return append([]actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing)},
		actorstest.InOrder(rest...)...)
}
