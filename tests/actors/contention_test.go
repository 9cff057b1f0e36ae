package actors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestContended: a holder that has asked is told of another client's contender, of its own session's,
// and of one that was there before it asked, also after a node of another queue has come and gone.
func TestContended(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, others := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect())
	for name, other := range map[string]*scene.Stage{"/another-client": others, "/own-session": s} {
		holder := s.Spawn(t, name)
		held := holder.Hold(t)
		holder.Send(&messages.WatchContention{})
		elsewhere := others.SpawnFor(t, messages.Acquire{Path: name, Name: "another"})
		elsewhere.Hold(t)
		elsewhere.Send(&messages.Release{})
		elsewhere.Finish(t)
		waiter := other.Spawn(t, name)
		scene.Await(t, waiter.Rec, messages.StateWatching)
		require.Equal(t, &messages.Contended{Grant: held.Grant}, scene.Notice[*messages.Contended](t, holder))
		holder.Send(messages.WatchContention{})
		require.Equal(t, &messages.Contended{Grant: held.Grant}, scene.Notice[*messages.Contended](t, holder))
		holder.Send(&messages.Release{})
		waiter.Hold(t)
		require.Len(t, holder.Finish(t), 1)
	}
}

// TestCheck: a holder's node is checked. Once an operator has deleted it, the hold is lost.
func TestCheck(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
	r := s.Spawn(t, "/checked")
	held := r.Hold(t)
	r.Send(&messages.Check{})
	require.Equal(t, &messages.Checked{Grant: held.Grant}, scene.Notice[*messages.Checked](t, r))
	o.Remove(t, "/checked", held.Node)
	r.Send(&messages.Check{})
	lost := scene.Notice[*messages.Lost](t, r)
	require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
	require.Empty(t, r.Finish(t))
}

// TestTellsMore: a request that asks for it is told how many were before it, and since when its node is
// watched: once after Held, and once after Resumed. One that does not ask is told neither.
func TestTellsMore(t *testing.T) {
	at := scene.OnEmbedded(t)
	f := scene.NewFragile(t, at)
	want := messages.Acquire{Path: "/more", TellMore: true}
	first := f.SpawnFor(t, want)
	held := scene.Notice[*messages.Held](t, first)
	require.Equal(t, messages.MaxPlace, held.Places)
	require.Equal(t, &messages.Watched{Grant: held.Grant, Readable: true}, scene.Notice[*messages.Watched](t, first))

	silent := f.Spawn(t, "/more")
	scene.Await(t, silent.Rec, messages.StateWatching)
	third := f.SpawnFor(t, want)
	require.Equal(t, 2, scene.Notice[*messages.Waiting](t, third).Before)

	f.Proxy.Cut()
	scene.Notice[*messages.Suspended](t, first)
	scene.Notice[*messages.Resumed](t, first)
	require.Equal(t, &messages.Watched{Grant: held.Grant, Readable: true}, scene.Notice[*messages.Watched](t, first))
	first.Send(&messages.Release{})
	require.Len(t, first.Finish(t), 1)
	silent.Hold(t)
	silent.Send(&messages.Release{})
	require.Len(t, silent.Finish(t), 1)
	third.Hold(t)
}
