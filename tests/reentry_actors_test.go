package tests

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// mine is a request for a lock of one owner by key.
func mine(reentry bool) messages.Acquire {
	return messages.Acquire{Path: "/mine", Owner: "me", Reentry: reentry}
}

// TestOwnersByKey: the second request of an owner is refused, or shares.
func TestOwnersByKey(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		first := s.spawnFor(t, mine(false))
		held := first.hold(t)
		refused := notice[*messages.Failed](t, s.spawnFor(t, mine(false)))
		require.Equal(t, messages.ReasonReentry, refused.Reason)
		require.Contains(t, refused.Detail, "me")
		require.Contains(t, refused.Detail, held.Node)

		second := s.spawnFor(t, mine(true))
		require.Equal(t, held.Token, second.hold(t).Token)
		require.Equal(t, []string{held.Node}, o.queue(t, "/mine"))
		other := s.spawnFor(t, messages.Acquire{Path: "/mine", Owner: "you", Reentry: true})
		await(t, other.rec, messages.StateWatching)

		first.send(&messages.Release{})
		first.finish(t)
		require.Len(t, o.queue(t, "/mine"), 2, "the second holds with that node")
		s.system.Root.Stop(second.lock) // as good as a release
		second.finish(t)
		require.Greater(t, other.hold(t).Token, held.Token)
		o.awaitGone(t, "/mine", held.Node)
	})
}

// TestOwnerIsTheActorThatAsks: two lock actors of one parent are one owner's.
func TestOwnerIsTheActorThatAsks(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		told, third := make(chan any, 10), actorstest.NewRecorder(s.system)
		defer third.Close()
		begun := false
		parent := s.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(s.session, messages.Acquire{Path: "/parent"}))
			case *messages.Held:
				if !begun { // once: what an actor spawns while it stops is not stopped with it
					begun = true
					ctx.Spawn(actors.NewLock(s.session, messages.Acquire{Path: "/parent"}))
				}
				told <- msg
			case *messages.Failed:
				ctx.Spawn(actors.NewLock(s.session, messages.Acquire{Path: "/parent", Reentry: true}, actors.WithObserver(third.PID())))
				told <- msg
			}
		}))
		await(t, third, messages.StateHeld)
		first, refused := (<-told).(*messages.Held), (<-told).(*messages.Failed)
		require.Equal(t, messages.ReasonReentry, refused.Reason)
		require.Equal(t, first.Token, third.Transitions()[len(third.Transitions())-1].Token)
		s.system.Root.Stop(parent)
		awaitNone(t, at, "/parent")
	})
}

// TestSecondComesWhileTheFirstIsQueued: it waits for the first and then shares; or queues itself, when the first
// gives up.
func TestSecondComesWhileTheFirstIsQueued(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(t *testing.T, r *request){
		"the first holds":       nil,
		"the first gives up":    func(_ *testing.T, r *request) { r.send(&messages.Cancel{}) },
		"the first is stopped":  func(_ *testing.T, r *request) { r.stage.system.Root.Stop(r.lock) },
		"the second gives up":   nil,
		"the second is stopped": nil,
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, at *servers) {
				s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
				before := others.spawn(t, "/mine")
				before.hold(t)
				one := s.spawnFor(t, mine(true))
				await(t, one.rec, messages.StateWatching)
				two := s.spawnFor(t, mine(true))
				await(t, two.rec, messages.StateCreating)
				refused := notice[*messages.Failed](t, s.spawnFor(t, mine(false))) // comes behind the second
				require.Equal(t, messages.ReasonReentry, refused.Reason)
				require.Len(t, o.queue(t, "/mine"), 2, "the second has no node of its own")
				switch {
				case first != nil:
					first(t, one)
					one.finish(t)
					await(t, two.rec, messages.StateWatching)
					before.send(&messages.Release{})
					held := two.hold(t)
					require.Equal(t, []string{held.Node}, o.queue(t, "/mine"))
					two.send(&messages.Release{})
					two.finish(t)
				case name == "the first holds":
					before.send(&messages.Release{})
					require.Equal(t, one.hold(t).Token, two.hold(t).Token)
					one.send(&messages.Release{})
					one.finish(t)
					two.send(&messages.Release{})
					two.finish(t)
				case name == "the second gives up":
					two.send(&messages.Cancel{})
					require.IsType(t, &messages.Cancelled{}, two.finish(t)[0])
				default:
					s.system.Root.Stop(two.lock)
					two.finish(t)
				}
				if name == "the second gives up" || name == "the second is stopped" {
					before.send(&messages.Release{})
					one.hold(t)
					one.send(&messages.Release{})
					one.finish(t)
				}
				awaitNone(t, at, "/mine")
			})
		})
	}
}

// TestSharedHoldHearsRevokeRequest: everybody who holds is asked, and the lock is free when all have given it back.
func TestSharedHoldHearsRevokeRequest(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		one := s.spawnFor(t, mine(true))
		held := one.hold(t)
		two := s.spawnFor(t, mine(true))
		shared := two.hold(t)
		next := others.spawn(t, "/mine")
		await(t, next.rec, messages.StateWatching)
		// The second reads the node right after it holds, so that it cannot miss this.
		o.write(t, "/mine", held.Node, "unlock")
		for r, grant := range map[*request]messages.Grant{one: held.Grant, two: shared.Grant} {
			require.Equal(t, &messages.RevokeRequested{Grant: grant}, notice[*messages.RevokeRequested](t, r))
			r.send(&messages.Release{})
			r.finish(t)
		}
		require.Greater(t, next.hold(t).Token, held.Token)
	})
}

// TestSharedHoldMeetsFaults: a cut is survived by all; an expiry, and an operator, end it for all.
func TestSharedHoldMeetsFaults(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		f, others, o := newFragile(t, at), newStage(t, at.Connect()), look(t, at)
		share := func() (one, two *request, held *messages.Held) {
			one = f.spawnFor(t, mine(true))
			held = one.hold(t)
			two = f.spawnFor(t, mine(true))
			two.hold(t)
			return one, two, held
		}
		one, two, held := share()
		f.proxy.Cut()
		for _, r := range []*request{one, two} {
			_, err := r.rec.AwaitNth(deadline(t), messages.StateHeld, 2)
			require.NoError(t, err)
		}
		require.Equal(t, []string{held.Node}, o.queue(t, "/mine"))
		one.send(&messages.Release{})
		one.finish(t)
		require.Equal(t, []string{held.Node}, o.queue(t, "/mine"))
		two.send(&messages.Release{})
		two.finish(t)
		require.Empty(t, o.queue(t, "/mine"))

		lost := func(one, two *request) {
			for _, r := range []*request{one, two} {
				all := r.finish(t)
				require.IsType(t, &messages.Lost{}, all[len(all)-1])
			}
			next := others.spawn(t, "/mine")
			next.hold(t)
			next.send(&messages.Release{})
			next.finish(t)
			require.Empty(t, o.queue(t, "/mine"))
		}
		one, two, _ = share()
		f.expire(t)
		lost(one, two)
		one, two, held = share()
		o.remove(t, "/mine", held.Node)
		lost(one, two)
	})
}
