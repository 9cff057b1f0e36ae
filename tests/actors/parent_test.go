package actors

import (
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// ledger is an actor that writes down what it is sent, until it is asked for it.
type ledger struct {
	begin   func(ctx actor.Context) // may be nil
	entries []string
	asked   chan []string
}

// showLedger asks a ledger for its entries.
type showLedger struct{}

func (l *ledger) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		if l.begin != nil {
			l.begin(ctx)
		}
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &showLedger{}) // it overtakes the notices, this does not
	case *showLedger:
		select {
		case l.asked <- l.entries:
		default: // asked before
		}
	case *messages.Transition:
		l.entries = append(l.entries, msg.To.String())
	case actor.SystemMessage, actor.AutoReceiveMessage:
	default:
		l.entries = append(l.entries, fmt.Sprintf("%T", msg))
		if _, held := msg.(*messages.Held); held && l.begin != nil {
			ctx.Send(ctx.Children()[0], &messages.Release{})
		}
	}
}

// spawnLedger spawns a ledger and gives the channel that its entries come through.
func spawnLedger(t *testing.T, s *stage.Stage, begin func(actor.Context)) (*actor.PID, <-chan []string) {
	t.Helper()
	asked := make(chan []string, 1)
	pid := s.System.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &ledger{begin: begin, asked: asked} }))
	patient.Cleanup(t, func() { s.System.Root.Stop(pid) })
	return pid, asked
}

func requireEntries(t *testing.T, asked <-chan []string, want ...string) {
	t.Helper()
	select {
	case got := <-asked:
		require.Equal(t, want, got)
	case <-time.After(patient.Bound):
		t.Fatal("the ledger was never shown")
	}
}

func TestParentThatObservesIsToldOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		_, asked := spawnLedger(t, s, func(ctx actor.Context) {
			ctx.Spawn(actors.NewLock(s.Session, messages.Acquire{Path: "/told"}, actors.WithObserver(ctx.Self())))
		})
		requireEntries(t, asked, "creating", "held", "*messages.Held", "releasing", "released", "*messages.Released")
		stories.AwaitNone(t, at, "/told")
	})
}

// TestTransitionsComeBeforeTheirNotices: an observer learns of a change of state, and then what it means.
func TestTransitionsComeBeforeTheirNotices(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		observer, asked := spawnLedger(t, s, nil)
		r := s.Spawn(t, "/order", actors.WithObserver(observer))
		r.Hold(t)
		r.Send(&messages.Release{})
		r.Finish(t)
		went := []messages.State{messages.StateCreating, messages.StateHeld, messages.StateReleasing, messages.StateReleased}
		stage.RequireMatch(t, r, actorstest.InOrder(went...)...)
		s.System.Root.Send(observer, &showLedger{})
		requireEntries(t, asked, "creating", "held", "*messages.Held", "releasing", "released", "*messages.Released")

		for i, tr := range r.Rec.Transitions() {
			if i > 0 {
				before := r.Rec.Transitions()[i-1]
				require.Equal(t, before.To, tr.From)
				require.False(t, tr.At.Before(before.At))
			}
			require.Equal(t, "/order", tr.Path)
		}
		require.Equal(t, messages.StateNone, r.Rec.Transitions()[0].From)
	})
}
