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

// holdInTurn lets two requests have a lock path one after the other.
func holdInTurn(t *testing.T, s *stage.Stage, path string) (first, second *stage.Request) {
	t.Helper()
	first = s.Spawn(t, path)
	first.Hold(t)
	second = s.Spawn(t, path)
	patient.Await(t, second.Rec, messages.StateWatching)
	first.Send(&messages.Release{})
	second.Hold(t)
	second.Send(&messages.Release{})
	first.Finish(t)
	second.Finish(t)
	return first, second
}

// TestDataOfTheLockPathStay: what somebody keeps in the lock path is never written over.
func TestDataOfTheLockPathStay(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		o.Plant(t, "/data/of/others", "theirs")
		first, _ := holdInTurn(t, s, "/data/of/others")
		stage.RequireMatch(t, first, actorstest.InOrder(messages.StateCreating, messages.StateHeld,
			messages.StateReleasing, messages.StateReleased)...)
		stories.AwaitNone(t, at, "/data/of/others")
		data, stat, err := o.Get(at.Root() + "/data/of/others")
		require.NoError(t, err)
		require.Equal(t, "theirs", string(data))
		require.Zero(t, stat.Version)
		require.Equal(t, stat.Czxid, stat.Mzxid)
	})
}

// TestLockPathIsNotWritten: the lock path changes in nothing but its children.
func TestLockPathIsNotWritten(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		o.Plant(t, "/unwritten", "")
		holdInTurn(t, s, "/unwritten")
		holdInTurn(t, s, "/made")
		stories.AwaitNone(t, at, "/unwritten")
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

// TestPersistentLockPathStays: one that somebody made is not ours to remove.
func TestPersistentLockPathStays(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		o.Plant(t, "/kept", "")
		holdInTurn(t, s, "/kept")
		stories.AwaitNone(t, at, "/kept")
		exists, stat, err := o.Exists(at.Root() + "/kept")
		require.NoError(t, err)
		require.True(t, exists)
		require.Zero(t, stat.DataLength)
	})
}

// TestEphemeralLockPathIsRefused: a node of a session can have no children.
func TestEphemeralLockPathIsRefused(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
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
	})
}

// TestOperatorRemovesTheLockPath: everything in it goes, and the path itself, in one transaction. The
// holder has lost. The last one makes the path again and is granted, with a greater token though the
// sequence numbers begin again.
func TestOperatorRemovesTheLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s, o := stage.New(t, at.Connect()), stories.Look(t, at)
		holder := s.Spawn(t, "/razed")
		held := holder.Hold(t)
		second := stage.New(t, at.Connect()).Spawn(t, "/razed")
		patient.Await(t, second.Rec, messages.StateWatching)
		last := stage.New(t, at.Connect()).Spawn(t, "/razed")
		patient.Await(t, last.Rec, messages.StateWatching)

		var all []any
		for _, node := range o.Queue(t, "/razed") {
			all = append(all, &zk.DeleteRequest{Path: at.Root() + "/razed/" + node, Version: -1})
		}
		_, err := o.Multi(append(all, &zk.DeleteRequest{Path: at.Root() + "/razed", Version: -1})...)
		require.NoError(t, err)

		require.Equal(t, messages.ReasonNodeDeleted, stage.Notice[*messages.Lost](t, holder).Reason)
		// The second waited for the head of the queue, and may take its end for its own turn before it reads its own
		// node, which is gone as well. Otherwise either of the two may be the first to make the path again.
		second.Send(&messages.Cancel{})
		for _, notice := range second.Finish(t) {
			if lost, is := notice.(*messages.Lost); is {
				require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
			}
		}
		got := last.Hold(t)
		require.Greater(t, got.Token, held.Token)
		o.AwaitQueue(t, "/razed", []string{got.Node})
		last.Send(&messages.Release{})
		last.Finish(t)
		stories.AwaitNone(t, at, "/razed")

		later := s.Spawn(t, "/razed")
		require.Greater(t, later.Hold(t).Token, got.Token)
	})
}

// TestOperatorRemovesAnEmptyLockPath: between two requests of a session that knows it.
func TestOperatorRemovesAnEmptyLockPath(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
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
	})
}
