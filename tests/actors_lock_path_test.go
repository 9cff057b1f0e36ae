package tests

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// holdInTurn lets two requests have a lock path one after the other.
func holdInTurn(t *testing.T, s *stage, path string) (first, second *request) {
	t.Helper()
	first = s.spawn(t, path)
	first.hold(t)
	second = s.spawn(t, path)
	await(t, second.rec, messages.StateWatching)
	first.send(&messages.Release{})
	second.hold(t)
	second.send(&messages.Release{})
	first.finish(t)
	second.finish(t)
	return first, second
}

// TestDataOfTheLockPathStay: what somebody keeps in the lock path is never written over.
func TestDataOfTheLockPathStay(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		o.plant(t, "/data/of/others", "theirs")
		first, _ := holdInTurn(t, s, "/data/of/others")
		requireMatch(t, first, actorstest.InOrder(messages.StateCreating, messages.StateHeld,
			messages.StateReleasing, messages.StateReleased)...)
		awaitNone(t, at, "/data/of/others")
		data, stat, err := o.Get(at.Root() + "/data/of/others")
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))
		require.Zero(t, stat.Version)
		require.Equal(t, stat.Czxid, stat.Mzxid)
	})
}

// TestLockPathIsNotWritten: the lock path changes in nothing but its children.
func TestLockPathIsNotWritten(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		o.plant(t, "/unwritten", "")
		holdInTurn(t, s, "/unwritten")
		holdInTurn(t, s, "/made")
		awaitNone(t, at, "/unwritten")
		for _, path := range []string{"/unwritten", "/made"} {
			_, stat, err := o.Get(at.Root() + path)
			require.NoError(t, err)
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
	eachControlled(t, 1, func(t *testing.T, server controlled) {
		at := &servers{members: []rig.Address{rig.Address(server.connect)}, root: "/chroot"}
		s, o := newStage(t, at.Connect()), look(t, at)
		gone := func(path string) bool {
			exists, _, err := o.Exists(path)
			require.NoError(t, err)
			return !exists
		}
		var newest messages.Token
		for range 5 {
			for range 20 { // as fast as it goes, while the server looks for empty containers
				r := s.spawn(t, "/deep/down")
				held := r.hold(t)
				require.Greater(t, held.Token, newest)
				newest = held.Token
				r.send(&messages.Release{})
				r.finish(t)
			}
			eventually(t, func() bool { return gone("/chroot/deep/down") }, "/chroot/deep/down never vanished")
		}
		eventually(t, func() bool { return gone("/chroot") }, "/chroot never vanished")
	})
}

// TestPersistentLockPathStays: one that somebody made is not ours to remove.
func TestPersistentLockPathStays(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		o.plant(t, "/kept", "")
		holdInTurn(t, s, "/kept")
		awaitNone(t, at, "/kept")
		exists, stat, err := o.Exists(at.Root() + "/kept")
		require.NoError(t, err)
		require.True(t, exists)
		require.Zero(t, stat.DataLength)
	})
}

// TestEphemeralLockPathIsRefused: a node of a session can have no children.
func TestEphemeralLockPathIsRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s, o := newStage(t, at.Connect()), look(t, at)
		_, err := o.Create(at.Root()+"/ephemeral", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		for _, path := range []string{"/ephemeral", "/ephemeral/below"} {
			r := s.spawn(t, path)
			failed := notice[*messages.Failed](t, r)
			require.Equal(t, messages.ReasonRefused, failed.Reason)
			require.NotEmpty(t, failed.Detail)
			requireMatch(t, r, actorstest.InOrder(messages.StateCreating, messages.StateFailed)...)
		}
	})
}
