package actors

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestLockPathIsNotWritten: the lock path changes in nothing but its children, whoever has made it, and what somebody keeps in
// it stays.
func TestLockPathIsNotWritten(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
		o.Plant(t, "/theirs", "theirs")
		for path, data := range map[string]string{"/theirs": "theirs", "/made": ""} {
			first := s.Spawn(t, path).Holds(t)
			second := s.Spawn(t, path).Waits(t)
			first.Send(&messages.Release{})
			second.Hold(t)
			second.Send(&messages.Release{})
			first.Finish(t)
			second.Finish(t)
			scene.AwaitNone(t, at, path)
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
	scene.EachControlled(t, 1, func(t *testing.T, server scene.Controlled) {
		at := scene.At("/chroot", server.Connect)
		s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
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
			scene.Eventually(t, func() bool { return gone("/chroot/deep/down") }, "/chroot/deep/down never vanished")
		}
		scene.Eventually(t, func() bool { return gone("/chroot") }, "/chroot never vanished")
	})
}

// TestEphemeralLockPathIsRefused: a node of a session can have no children.
func TestEphemeralLockPathIsRefused(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
	_, err := o.Create(at.Root()+"/ephemeral", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	for _, path := range []string{"/ephemeral", "/ephemeral/below"} {
		r := s.Spawn(t, path)
		failed := scene.Notice[*messages.Failed](t, r)
		require.Equal(t, messages.ReasonRefused, failed.Reason)
		require.NotEmpty(t, failed.Detail)
		scene.RequireMatch(t, r, actorstest.InOrder(messages.StateCreating, messages.StateFailed)...)
	}
}

// TestOperatorRemovesAnEmptyLockPath: between two requests of a session that knows it.
func TestOperatorRemovesAnEmptyLockPath(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, o := scene.NewStage(t, at.Connect()), scene.Look(t, at)
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
