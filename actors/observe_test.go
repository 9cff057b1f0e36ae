package actors_test

import (
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// unheard is a listener that listens to nothing.
type unheard struct{}

func (unheard) Moved(messages.State, string) {}
func (unheard) Hear(*actor.PID, any)         {}

// TestOrder: an observer is told each change of state, and then its notice.
func TestOrder(t *testing.T) {
	kit, all := actorstest.Start(t), make(chan string, 100)
	observer := kit.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *messages.Transition:
			if msg.To != messages.StateListing { // a first use of a path lists
				all <- msg.To.String()
			}
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			all <- fmt.Sprintf("%T", msg)
		}
	}))
	lock := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/a"}, actors.WithObserver(observer)))
	for _, want := range []string{"creating", "held", "*messages.Held"} {
		require.Equal(t, want, take(t, all))
	}
	kit.System.Root.Send(lock, &messages.Revoke{})
	kit.System.Root.Send(lock, &messages.Release{})
	for _, want := range []string{"revoking", "*messages.RevokeRequested", "releasing", "released", "*messages.Released"} {
		require.Equal(t, want, take(t, all))
	}
}

// TestLateObserversAreApart: lock actors whose observers are one slice do not get each other's.
func TestLateObserversAreApart(t *testing.T) {
	kit := actorstest.Start(t)
	shared := make([]*actor.PID, 0, 8)
	var locks []*actor.PID
	var recorders []*actorstest.Recorder
	for i := range 2 {
		lock := kit.Session.SpawnLock(&messages.Acquire{Path: fmt.Sprint("/", i)}, unheard{}, shared)
		recorder := actorstest.NewRecorder(kit.System)
		recorder.Observe(lock)
		locks, recorders = append(locks, lock), append(recorders, recorder)
	}
	for i, recorder := range recorders {
		_, err := recorder.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		kit.System.Root.Send(locks[i], &messages.Release{})
		_, err = recorder.Await(t.Context(), messages.StateReleased)
		require.NoError(t, err)
		for _, tr := range recorder.Transitions() {
			require.Equal(t, fmt.Sprint("/", i), tr.Path)
		}
	}
}

// TestObserverOnAnotherNode: it is ignored, because the lock actor is not for other nodes.
func TestObserverOnAnotherNode(t *testing.T) {
	kit, dead := actorstest.Start(t), make(chan any, 10)
	elsewhere := actor.NewPID("10.0.0.7:8090", "clerk")
	defer kit.System.EventStream.Unsubscribe(kit.System.EventStream.Subscribe(func(event any) {
		if missed, is := event.(*actor.DeadLetterEvent); is && missed.PID.Equal(elsewhere) {
			dead <- missed.Message
		}
	}))
	lock := kit.System.Root.Spawn(actors.NewLock(kit.Session, messages.Acquire{Path: "/a"}))
	kit.System.Root.RequestWithCustomSender(lock, &messages.Observe{}, elsewhere)
	near := actorstest.NewRecorder(kit.System)
	near.Observe(lock)
	kit.System.Root.Send(lock, &messages.Release{})
	_, err := actorstest.AwaitNotice(t.Context(), near, func(any) bool { return true })
	require.NoError(t, err)
	require.Empty(t, dead)
}
