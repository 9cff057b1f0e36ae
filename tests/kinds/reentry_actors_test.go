package kinds

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// mine is a request for a lock of one owner by key.
func mine(reentry bool) messages.Acquire {
	return messages.Acquire{Path: "/mine", Owner: "me", Reentry: reentry}
}

// TestOwnersByKey: the second request of an owner is refused, or shares.
func TestOwnersByKey(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		first := s.SpawnFor(t, mine(false))
		held := first.Hold(t)
		refused := stage.Notice[*messages.Failed](t, s.SpawnFor(t, mine(false)))
		require.Equal(t, messages.ReasonReentry, refused.Reason)
		require.Contains(t, refused.Detail, "me")
		require.Contains(t, refused.Detail, held.Node)

		second := s.SpawnFor(t, mine(true))
		require.Equal(t, held.Token, second.Hold(t).Token)
		require.Equal(t, []string{held.Node}, o.Queue(t, "/mine"))
		other := s.SpawnFor(t, messages.Acquire{Path: "/mine", Owner: "you", Reentry: true})
		patient.Await(t, other.Rec, messages.StateWatching)

		first.Send(&messages.Release{})
		first.Finish(t)
		require.Len(t, o.Queue(t, "/mine"), 2, "the second holds with that node")
		s.System.Root.Stop(second.Lock) // as good as a release
		second.Finish(t)
		require.Greater(t, other.Hold(t).Token, held.Token)
		o.AwaitGone(t, "/mine", held.Node)
	})
}

// TestOwnerIsTheActorThatAsks: two lock actors of one parent are one owner's.
func TestOwnerIsTheActorThatAsks(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		told, third := make(chan any, 10), actorstest.NewRecorder(s.System)
		defer third.Close()
		begun := false
		parent := s.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(s.Session, messages.Acquire{Path: "/parent"}))
			case *messages.Held:
				if !begun { // once: what an actor spawns while it stops is not stopped with it
					begun = true
					ctx.Spawn(actors.NewLock(s.Session, messages.Acquire{Path: "/parent"}))
				}
				told <- msg
			case *messages.Failed:
				ctx.Spawn(actors.NewLock(s.Session, messages.Acquire{Path: "/parent", Reentry: true}, actors.WithObserver(third.PID())))
				told <- msg
			}
		}))
		patient.Await(t, third, messages.StateHeld)
		first, refused := (<-told).(*messages.Held), (<-told).(*messages.Failed)
		require.Equal(t, messages.ReasonReentry, refused.Reason)
		require.Equal(t, first.Token, third.Transitions()[len(third.Transitions())-1].Token)
		s.System.Root.Stop(parent)
		stories.AwaitNone(t, at, "/parent")
	})
}

// TestSecondComesWhileTheFirstIsQueued: it waits for the first and then shares; or queues itself, when the first
// gives up.
func TestSecondComesWhileTheFirstIsQueued(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(t *testing.T, r *stage.Request){
		"the first holds":       nil,
		"the first gives up":    func(_ *testing.T, r *stage.Request) { r.Send(&messages.Cancel{}) },
		"the first is stopped":  func(_ *testing.T, r *stage.Request) { r.Stage.System.Root.Stop(r.Lock) },
		"the second gives up":   nil,
		"the second is stopped": nil,
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
				s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
				before := others.Spawn(t, "/mine")
				before.Hold(t)
				one := s.SpawnFor(t, mine(true))
				patient.Await(t, one.Rec, messages.StateWatching)
				two := s.SpawnFor(t, mine(true))
				patient.Await(t, two.Rec, messages.StateCreating)
				refused := stage.Notice[*messages.Failed](t, s.SpawnFor(t, mine(false))) // comes behind the second
				require.Equal(t, messages.ReasonReentry, refused.Reason)
				require.Len(t, o.Queue(t, "/mine"), 2, "the second has no node of its own")
				switch {
				case first != nil:
					first(t, one)
					one.Finish(t)
					patient.Await(t, two.Rec, messages.StateWatching)
					before.Send(&messages.Release{})
					held := two.Hold(t)
					require.Equal(t, []string{held.Node}, o.Queue(t, "/mine"))
					two.Send(&messages.Release{})
					two.Finish(t)
				case name == "the first holds":
					before.Send(&messages.Release{})
					require.Equal(t, one.Hold(t).Token, two.Hold(t).Token)
					one.Send(&messages.Release{})
					one.Finish(t)
					two.Send(&messages.Release{})
					two.Finish(t)
				case name == "the second gives up":
					two.Send(&messages.Cancel{})
					require.IsType(t, &messages.Cancelled{}, two.Finish(t)[0])
				default:
					s.System.Root.Stop(two.Lock)
					two.Finish(t)
				}
				if name == "the second gives up" || name == "the second is stopped" {
					before.Send(&messages.Release{})
					one.Hold(t)
					one.Send(&messages.Release{})
					one.Finish(t)
				}
				stories.AwaitNone(t, at, "/mine")
			})
		})
	}
}

// TestSharedHoldHearsRevokeRequest: all that hold are asked, and the lock is free when all have
// given it back.
func TestSharedHoldHearsRevokeRequest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		one := s.SpawnFor(t, mine(true))
		held := one.Hold(t)
		two := s.SpawnFor(t, mine(true))
		shared := two.Hold(t)
		next := others.Spawn(t, "/mine")
		patient.Await(t, next.Rec, messages.StateWatching)
		// The second reads the node right after it holds, so that it cannot miss this.
		o.Write(t, "/mine", held.Node, "unlock")
		for r, grant := range map[*stage.Request]messages.Grant{one: held.Grant, two: shared.Grant} {
			require.Equal(t, &messages.RevokeRequested{Grant: grant}, stage.Notice[*messages.RevokeRequested](t, r))
			r.Send(&messages.Release{})
			r.Finish(t)
		}
		require.Greater(t, next.Hold(t).Token, held.Token)
	})
}

// TestSharedHoldMeetsFaults: a cut is survived by all; an expiry, and an operator, end it for all.
func TestSharedHoldMeetsFaults(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		f, others, o := stage.NewFragile(t, at), stage.New(t, at.Connect()), stories.Look(t, at)
		share := func() (one, two *stage.Request, held *messages.Held) {
			one = f.SpawnFor(t, mine(true))
			held = one.Hold(t)
			two = f.SpawnFor(t, mine(true))
			two.Hold(t)
			return one, two, held
		}
		one, two, held := share()
		f.Proxy.Cut()
		for _, r := range []*stage.Request{one, two} {
			_, err := r.Rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
			require.NoError(t, err)
		}
		require.Equal(t, []string{held.Node}, o.Queue(t, "/mine"))
		one.Send(&messages.Release{})
		one.Finish(t)
		require.Equal(t, []string{held.Node}, o.Queue(t, "/mine"))
		two.Send(&messages.Release{})
		two.Finish(t)
		require.Empty(t, o.Queue(t, "/mine"))

		lost := func(one, two *stage.Request) {
			for _, r := range []*stage.Request{one, two} {
				all := r.Finish(t)
				require.IsType(t, &messages.Lost{}, all[len(all)-1])
			}
			next := others.Spawn(t, "/mine")
			next.Hold(t)
			next.Send(&messages.Release{})
			next.Finish(t)
			require.Empty(t, o.Queue(t, "/mine"))
		}
		one, two, _ = share()
		f.Expire(t)
		lost(one, two)
		one, two, held = share()
		o.Remove(t, "/mine", held.Node)
		lost(one, two)
	})
}
