package actors

import (
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

func TestParentIsToldEachNoticeOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.Spawn(t, "/parent")
		held := r.Hold(t)
		require.Equal(t, "/parent", held.Path)
		require.Equal(t, []string{held.Node}, o.Queue(t, "/parent"))
		require.Equal(t, s.Session.ID(), held.Session)
		_, stat, err := o.Get(at.Root() + "/parent/" + held.Node)
		require.NoError(t, err)
		require.Equal(t, held.Session, stat.EphemeralOwner)
		require.Equal(t, stat.Czxid, held.Token.Zxid())

		r.Send(&messages.Release{})
		rest := r.Finish(t)
		require.Len(t, rest, 1)
		require.Equal(t, &messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}, rest[0])
		require.Empty(t, o.Queue(t, "/parent"))
	})
}

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

// TestOneGrantAfterTheOther: of several lock actors of one session and of several, each is granted in
// the order of their nodes, and the head of the queue is always the holder.
func TestOneGrantAfterTheOther(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		o := stories.Look(t, at)
		stages := []*stage.Stage{stage.New(t, at.Connect()), stage.New(t, at.Connect())}
		requests := map[string]*stage.Request{}
		for i := range 6 {
			r := stages[i/2%2].Spawn(t, "/fifo") // two of one session, two of the other, …
			stories.AwaitCount(t, at, "/fifo", i+1)
			for _, node := range o.Queue(t, "/fifo") {
				if requests[node] == nil {
					requests[node] = r
				}
			}
		}
		var newest messages.Token
		var sequence int32 = -1
		for _, node := range o.Queue(t, "/fifo") {
			held := requests[node].Hold(t)
			require.Equal(t, node, held.Node)
			require.Greater(t, held.Token, newest)
			seq, ok := queue.Sequence(held.Node)
			require.True(t, ok)
			require.Greater(t, seq, sequence)
			newest, sequence = held.Token, seq
			requests[node].Send(&messages.Release{})
			require.Len(t, requests[node].Finish(t), 1)
		}
		stories.AwaitNone(t, at, "/fifo")
	})
}
