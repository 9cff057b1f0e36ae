package actors

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestLockPathIsNotWritten: the lock path changes in nothing but its children, whoever has made it, and what somebody keeps in
// it stays.
func TestLockPathIsNotWritten(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		o.Plant(t, "/theirs", "theirs")
		for path, data := range map[string]string{"/theirs": "theirs", "/made": ""} {
			first := s.Spawn(t, path).Holds(t)
			second := s.Spawn(t, path).Waits(t)
			first.Send(&messages.Release{})
			second.Hold(t)
			second.Send(&messages.Release{})
			first.Finish(t)
			second.Finish(t)
			stories.AwaitNone(t, at, path)
			kept, stat, err := o.Get(at.Root() + path)
			require.NoError(t, err)
			require.Equal(t, data, string(kept))
			require.Zero(t, stat.Version)
			require.Equal(t, stat.Czxid, stat.Mzxid)
			require.EqualValues(t, 4, stat.Cversion, "two nodes came and went")
		}
	})
}

// TestLockPathVanishesBehindItsLastContender: the lock path, and what had to be made above it, are
// containers, which the server removes when they are empty; the next request makes them again, also when
// it comes at the very moment.
func TestLockPathVanishesBehindItsLastContender(t *testing.T) {
	stories.EachControlled(t, 1, func(t *testing.T, server stories.Controlled) {
		at := stories.At("/chroot", server.Connect)
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		gone := func(path string) bool {
			exists, _, err := o.Exists(path)
			require.NoError(t, err)
			return !exists
		}
		var newest messages.Token
		for range 5 {
			for range 20 { // as fast as it goes, while the server looks for empty containers
				r := s.Spawn(t, "/deep/down")
				held := r.Hold(t)
				require.Greater(t, held.Token, newest)
				newest = held.Token
				r.Send(&messages.Release{})
				r.Finish(t)
			}
			patient.Eventually(t, func() bool { return gone("/chroot/deep/down") }, "/chroot/deep/down never vanished")
		}
		patient.Eventually(t, func() bool { return gone("/chroot") }, "/chroot never vanished")
	})
}

// TestEphemeralLockPathIsRefused: a node of a session can have no children.
func TestEphemeralLockPathIsRefused(t *testing.T) {
	at := stories.OnEmbedded(t)
	s, o := stage.New(t, at.Connect()), stories.Look(t, at)
	_, err := o.Create(at.Root()+"/ephemeral", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	for _, path := range []string{"/ephemeral", "/ephemeral/below"} {
		r := s.Spawn(t, path)
		failed := stage.Notice[*messages.Failed](t, r)
		require.Equal(t, messages.ReasonRefused, failed.Reason)
		require.NotEmpty(t, failed.Detail)
		stage.RequireMatch(t, r, actorstest.InOrder(messages.StateCreating, messages.StateFailed)...)
	}
}

// TestOperatorRemovesAnEmptyLockPath: between two requests of a session that knows it.
func TestOperatorRemovesAnEmptyLockPath(t *testing.T) {
	at := stories.OnEmbedded(t)
	s, o := stage.New(t, at.Connect()), stories.Look(t, at)
	var newest messages.Token
	for range 3 {
		r := s.Spawn(t, "/empty/deep")
		held := r.Hold(t)
		require.Greater(t, held.Token, newest)
		newest = held.Token
		r.Send(&messages.Release{})
		r.Finish(t)
		require.NoError(t, o.Delete(at.Root()+"/empty/deep", -1))
		require.NoError(t, o.Delete(at.Root()+"/empty", -1))
	}
}
