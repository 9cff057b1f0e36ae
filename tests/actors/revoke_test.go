package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// asks are the ways to ask a holder to give the lock back.
var asks = []struct {
	name string
	ask  func(t *testing.T, o stories.Outside, r *stage.Request, held *messages.Held)
}{
	{"unlock written", func(t *testing.T, o stories.Outside, _ *stage.Request, h *messages.Held) {
		o.Write(t, h.Path, h.Node, "unlock")
	}},
	{"Curator", func(t *testing.T, o stories.Outside, _ *stage.Request, h *messages.Held) {
		o.Write(t, h.Path, h.Node, "__REVOKE__")
	}},
	{"Revoke", func(_ *testing.T, _ stories.Outside, r *stage.Request, _ *messages.Held) { r.Send(&messages.Revoke{}) }},
	{"Revoke by value", func(_ *testing.T, _ stories.Outside, r *stage.Request, _ *messages.Held) { r.Send(messages.Revoke{}) }},
}

func TestHolderThatIsAskedGivesBack(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, a := range asks {
			t.Run(a.name, func(t *testing.T) {
				holder := s.Spawn(t, "/asked")
				held := holder.Hold(t)
				next := others.Spawn(t, "/asked")
				patient.Await(t, next.Rec, messages.StateWatching)

				a.ask(t, o, holder, held)
				require.Equal(t, &messages.RevokeRequested{Grant: held.Grant}, stage.Notice[*messages.RevokeRequested](t, holder))
				require.Equal(t, held.Node, o.Queue(t, "/asked")[0], "the node stays until the holder gives back")
				a.ask(t, o, holder, held) // asking again says nothing new
				holder.Send(&messages.Release{})
				require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, holder.Finish(t))
				stage.RequireMatch(t, holder, stage.Straight(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
					messages.StateReleased)...)

				got := next.Hold(t)
				o.AwaitQueue(t, "/asked", []string{got.Node})
				next.Send(&messages.Release{})
				next.Finish(t)
			})
		}
	})
}

func TestGraceRunsOut(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, others, o := stage.New(t, at.Connect()), stage.New(t, at.Connect()), stories.Look(t, at)
		for _, a := range asks {
			t.Run(a.name, func(t *testing.T) {
				holder := s.SpawnFor(t, messages.Acquire{Path: "/grace", Grace: 100 * time.Millisecond})
				held := holder.Hold(t)
				next := others.Spawn(t, "/grace")
				patient.Await(t, next.Rec, messages.StateWatching)

				a.ask(t, o, holder, held)
				asked := stage.Notice[*messages.RevokeRequested](t, holder)
				require.False(t, asked.Deadline.IsZero())
				require.Equal(t, &messages.Revoked{Grant: held.Grant}, stage.Notice[*messages.Revoked](t, holder))
				require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonRevoked}}, holder.Finish(t))
				forced := patient.Await(t, holder.Rec, messages.StateReleasing)
				require.False(t, forced.At.Before(asked.Deadline), "the grace period was cut short")
				stage.RequireMatch(t, holder, stage.Straight(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
					messages.StateReleased)...)

				got := next.Hold(t)
				require.Greater(t, got.Token, held.Token)
				o.AwaitQueue(t, "/grace", []string{got.Node})
				next.Send(&messages.Release{})
				next.Finish(t)
			})
		}
	})
}

// TestWithoutGraceNothingIsForced: one that has no grace period keeps the lock, while one that was asked
// after it and has one is long gone.
func TestWithoutGraceNothingIsForced(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		patient := s.Spawn(t, "/patient")
		held := patient.Hold(t)
		o.Write(t, "/patient", held.Node, "unlock")
		require.Zero(t, stage.Notice[*messages.RevokeRequested](t, patient).Deadline)

		forced := s.SpawnFor(t, messages.Acquire{Path: "/forced", Grace: 200 * time.Millisecond})
		forced.Hold(t)
		forced.Send(&messages.Revoke{})
		forced.Finish(t)

		require.Equal(t, []string{held.Node}, o.Queue(t, "/patient"))
		require.Empty(t, patient.Told)
		stage.RequireMatch(t, patient, stage.Straight(messages.StateHeld, messages.StateRevoking)...)
		patient.Send(&messages.Release{})
		patient.Finish(t)
		stories.AwaitNone(t, at, "/patient")
	})
}

// TestGiveBackWithinTheGracePeriod: the timer of the grace period changes nothing any more then.
func TestGiveBackWithinTheGracePeriod(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.SpawnFor(t, messages.Acquire{Path: "/within", Grace: patient.Bound})
		held := r.Hold(t)
		r.Send(&messages.Revoke{})
		require.True(t, stage.Notice[*messages.RevokeRequested](t, r).Deadline.After(time.Now()))
		r.Send(&messages.Release{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.Finish(t))
		require.Empty(t, o.Queue(t, "/within"))
	})
}

// TestRevokeOfAWaiterSaysNothing: only a holder has something to give back. What is written into a
// waiter's node is found when it holds.
func TestRevokeOfAWaiterSaysNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/waiters")
		holder.Hold(t)
		waiter := s.Spawn(t, "/waiters")
		node := patient.Await(t, waiter.Rec, messages.StateWatching).Node
		waiter.Send(&messages.Revoke{})
		o.Write(t, "/waiters", node, "unlock")

		holder.Send(&messages.Release{})
		require.Equal(t, node, waiter.Hold(t).Node)
		stage.Notice[*messages.RevokeRequested](t, waiter)
		waiter.Send(&messages.Release{})
		waiter.Finish(t)
		stage.RequireMatch(t, waiter, stage.Waited(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
			messages.StateReleased)...)
	})
}

// TestOtherDataAskNothing: people may write into a holder's node what they like.
func TestOtherDataAskNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		r := s.Spawn(t, "/note")
		held := r.Hold(t)
		for _, data := range []string{"a note", "", "unlocked"} {
			o.Write(t, "/note", held.Node, data)
		}
		o.Write(t, "/note", held.Node, "unlock") // the watch is still there after all of them
		stage.Notice[*messages.RevokeRequested](t, r)
		stage.RequireMatch(t, r, stage.Straight(messages.StateHeld, messages.StateRevoking)...)
	})
}
