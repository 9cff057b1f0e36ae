package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestCommands are understood by value and by pointer. A holder gives back, and a waiter gives up; each is told that it asked
// for that.
func TestCommands(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
	for _, c := range []struct {
		command any
		asked   messages.Reason
	}{
		{&messages.Release{}, messages.ReasonReleased}, {messages.Release{}, messages.ReasonReleased},
		{&messages.Cancel{}, messages.ReasonCancelled}, {messages.Cancel{}, messages.ReasonCancelled},
	} {
		holder := s.Spawn(t, "/commands")
		held := holder.Hold(t)
		waiter := s.Spawn(t, "/commands").Waits(t)
		waiter.Send(c.command)
		require.Equal(t, c.asked, scene.Notice[*messages.Cancelled](t, waiter).Reason)
		require.Empty(t, waiter.Finish(t))
		require.Equal(t, []string{held.Node}, o.Queue(t, "/commands"))
		holder.Send(c.command)
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: c.asked}}, holder.Finish(t))
	}
	for _, command := range []any{&messages.Revoke{}, messages.Revoke{}} {
		r := s.Spawn(t, "/commands")
		held := r.Hold(t)
		r.Send(command)
		require.Equal(t, &messages.RevokeRequested{Grant: held.Grant}, scene.Notice[*messages.RevokeRequested](t, r))
		r.Send(command) // asking again says nothing new
		r.Send(&messages.Release{})
		require.Equal(t, []any{&messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.Finish(t))
	}
	scene.AwaitNone(t, at, "/commands")
}
