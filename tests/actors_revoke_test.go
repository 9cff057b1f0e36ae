package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// asks are the ways to ask a holder to give the lock back.
var asks = []struct {
	name string
	ask  func(t *testing.T, o outside, r *request, held *messages.Held)
}{
	{"unlock written", func(t *testing.T, o outside, _ *request, h *messages.Held) { o.write(t, h.Path, h.Node, "unlock") }},
	{"Curator", func(t *testing.T, o outside, _ *request, h *messages.Held) { o.write(t, h.Path, h.Node, "__REVOKE__") }},
	{"Revoke", func(_ *testing.T, _ outside, r *request, _ *messages.Held) { r.send(&messages.Revoke{}) }},
	{"Revoke by value", func(_ *testing.T, _ outside, r *request, _ *messages.Held) { r.send(messages.Revoke{}) }},
}

func TestHolderThatIsAskedGivesBack(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, a := range asks {
			t.Run(a.name, func(t *testing.T) {
				holder := s.spawn(t, "/asked")
				held := holder.hold(t)
				next := others.spawn(t, "/asked")
				await(t, next.rec, messages.StateWatching)

				a.ask(t, o, holder, held)
				require.Equal(t, &messages.RevokeRequested{Grant: held.Grant}, notice[*messages.RevokeRequested](t, holder))
				require.Equal(t, held.Node, o.queue(t, "/asked")[0], "the node stays until the holder gives back")
				a.ask(t, o, holder, held) // asking again says nothing new
				holder.send(&messages.Release{})
				require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, holder.finish(t))
				requireMatch(t, holder, straight(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
					messages.StateReleased)...)

				got := next.hold(t)
				o.awaitQueue(t, "/asked", []string{got.Node})
				next.send(&messages.Release{})
				next.finish(t)
			})
		}
	})
}

func TestGraceRunsOut(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, others, o := newStage(t, at.Connect()), newStage(t, at.Connect()), look(t, at)
		for _, a := range asks {
			t.Run(a.name, func(t *testing.T) {
				holder := s.spawnFor(t, messages.Acquire{Path: "/grace", Grace: 100 * time.Millisecond})
				held := holder.hold(t)
				next := others.spawn(t, "/grace")
				await(t, next.rec, messages.StateWatching)

				a.ask(t, o, holder, held)
				asked := notice[*messages.RevokeRequested](t, holder)
				require.False(t, asked.Deadline.IsZero())
				require.Equal(t, &messages.Revoked{Grant: held.Grant}, notice[*messages.Revoked](t, holder))
				require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonRevoked}}, holder.finish(t))
				forced := await(t, holder.rec, messages.StateReleasing)
				require.False(t, forced.At.Before(asked.Deadline), "the grace period was cut short")
				requireMatch(t, holder, straight(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
					messages.StateReleased)...)

				got := next.hold(t)
				require.Greater(t, got.Token, held.Token)
				o.awaitQueue(t, "/grace", []string{got.Node})
				next.send(&messages.Release{})
				next.finish(t)
			})
		}
	})
}

// TestWithoutGraceNothingIsForced: one that has no grace period keeps the lock, while one that was asked
// after it and has one is long gone.
func TestWithoutGraceNothingIsForced(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		patient := s.spawn(t, "/patient")
		held := patient.hold(t)
		o.write(t, "/patient", held.Node, "unlock")
		require.Zero(t, notice[*messages.RevokeRequested](t, patient).Deadline)

		forced := s.spawnFor(t, messages.Acquire{Path: "/forced", Grace: 200 * time.Millisecond})
		forced.hold(t)
		forced.send(&messages.Revoke{})
		forced.finish(t)

		require.Equal(t, []string{held.Node}, o.queue(t, "/patient"))
		require.Empty(t, patient.told)
		requireMatch(t, patient, straight(messages.StateHeld, messages.StateRevoking)...)
		patient.send(&messages.Release{})
		patient.finish(t)
		awaitNone(t, at, "/patient")
	})
}

// TestGiveBackWithinTheGracePeriod: the timer of the grace period changes nothing any more then.
func TestGiveBackWithinTheGracePeriod(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		r := s.spawnFor(t, messages.Acquire{Path: "/within", Grace: bound})
		held := r.hold(t)
		r.send(&messages.Revoke{})
		require.True(t, notice[*messages.RevokeRequested](t, r).Deadline.After(time.Now()))
		r.send(&messages.Release{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.finish(t))
		require.Empty(t, o.queue(t, "/within"))
	})
}

// TestRevokeOfAWaiterSaysNothing: only a holder has something to give back. What is written into a
// waiter's node is found when it holds.
func TestRevokeOfAWaiterSaysNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		holder := s.spawn(t, "/waiters")
		holder.hold(t)
		waiter := s.spawn(t, "/waiters")
		node := await(t, waiter.rec, messages.StateWatching).Node
		waiter.send(&messages.Revoke{})
		o.write(t, "/waiters", node, "unlock")

		holder.send(&messages.Release{})
		require.Equal(t, node, waiter.hold(t).Node)
		notice[*messages.RevokeRequested](t, waiter)
		waiter.send(&messages.Release{})
		waiter.finish(t)
		requireMatch(t, waiter, waited(messages.StateHeld, messages.StateRevoking, messages.StateReleasing,
			messages.StateReleased)...)
	})
}

// TestOtherDataAskNothing: people may write into a holder's node what they like.
func TestOtherDataAskNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		r := s.spawn(t, "/note")
		held := r.hold(t)
		for _, data := range []string{"a note", "", "unlocked"} {
			o.write(t, "/note", held.Node, data)
		}
		o.write(t, "/note", held.Node, "unlock") // the watch is still there after all of them
		notice[*messages.RevokeRequested](t, r)
		requireMatch(t, r, straight(messages.StateHeld, messages.StateRevoking)...)
	})
}
