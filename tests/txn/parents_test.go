package txn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// withParents is a Create that makes what is missing above it.
func withParents(path, data string) locks.Op {
	op := locks.Create(path, []byte(data))
	op.Parents = true
	return op
}

// TestTxnMakesParents where a Create asks for them, with it or not at all.
func TestTxnMakesParents(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		zk.Write(t, "/value", "old")

		_, err := lease.Txn(scene.Deadline(t), withParents("/a/b/c", "new"), locks.Set("/value", nil, 7))
		require.ErrorIs(t, err, zkconn.ErrBadVersion)
		require.Equal(t, scene.Absent, zk.Read(t, "/a"), "all or nothing")

		sequential := locks.CreateSequential("/a/b/d/n-", []byte("one"))
		sequential.Parents = true
		ops := []locks.Op{locks.Set("/value", []byte("new"), 0), withParents("/a/b/c", "new"), sequential, locks.Create("/a/x", nil)}
		results, err := lease.Txn(scene.Deadline(t), ops...)
		require.NoError(t, err)
		require.Len(t, results, len(ops), "those of the ops, in their order")
		require.Equal(t, int32(1), results[0].Version)
		require.Equal(t, []string{"/a/b/c", "/a/b/d/n-0000000000", "/a/x"}, []string{results[1].Path, results[2].Path, results[3].Path})
		require.True(t, ops[1].Parents, "the caller's stay as they are")
		for path, want := range map[string]string{"/a": "", "/a/b": "", "/a/b/c": "new", "/a/b/d": "", results[2].Path: "one"} {
			require.Equal(t, scene.Written{Data: want, Version: 0}, zk.Read(t, path), path)
		}

		_, err = lease.Txn(scene.Deadline(t), withParents("/a/b/c", "again"))
		require.ErrorIs(t, err, zkconn.ErrNodeExists)
		results, err = lease.Txn(scene.Deadline(t), locks.Create("/p", []byte("mine")), withParents("/p/q/r", "new"))
		require.NoError(t, err)
		require.Equal(t, []locks.OpResult{{Path: "/p"}, {Path: "/p/q/r"}}, results)
		require.Equal(t, scene.Written{Data: "mine", Version: 0}, zk.Read(t, "/p"))
	})
}

// TestTxnMakesNoParentsFor what makes no sense: it is refused, and nothing is sent over and over.
func TestTxnMakesNoParentsFor(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		set := locks.Set("/x/y", nil, locks.AnyVersion)
		set.Parents = true
		_, err := lease.Txn(scene.Deadline(t), set)
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		_, err = lease.Txn(scene.Deadline(t), withParents("/x/y/z", ""), locks.Create("/x/y", nil))
		require.ErrorIs(t, err, zkconn.ErrNodeExists, "a parent that comes behind its child")
		zk.Write(t, "/gone", "")
		_, err = lease.Txn(scene.Deadline(t), locks.Delete("/gone", locks.AnyVersion), withParents("/gone/x", ""))
		require.ErrorIs(t, err, zkconn.ErrNoNode, "a parent that the transaction deletes")
		ephemeral := locks.Create("/short", nil)
		ephemeral.Ephemeral = true
		_, err = lease.Txn(scene.Deadline(t), ephemeral)
		require.NoError(t, err)
		_, err = lease.Txn(scene.Deadline(t), withParents("/short/x/y", ""))
		require.ErrorIs(t, err, zkconn.ErrNoChildrenForEphemerals)
		require.Equal(t, []scene.Written{scene.Absent, {Data: "", Version: 0}},
			[]scene.Written{zk.Read(t, "/x"), zk.Read(t, "/gone")})
	})
}

// requireMine finds what was written below /deep: the leaf once, and its parent as it is to be.
func requireMine(t *testing.T, lease *locks.Lease, parent string) {
	t.Helper()
	for path, want := range map[string]string{"/deep/er": parent, "/deep/er/most": "mine"} {
		data, version, err := lease.Get(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, scene.Written{Data: want, Version: 0}, scene.Written{Data: string(data), Version: version})
	}
}

// TestParentsChangeMeanwhile: what was found out about the parents is no longer true when the transaction arrives.
func TestParentsChangeMeanwhile(t *testing.T) {
	for theirs, ops := range map[string][]locks.Op{ // before the look, and behind it
		"theirs": {locks.Create("/other", nil), withParents("/deep/er", "theirs")},
		"":       {locks.Create("/deep", nil), locks.Delete("/deep", locks.AnyVersion)},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := scene.Virtual(t)
			lease := scene.Locked(t, scene.Client(t, server).Mutex("/lock").Lock)
			other := scene.Locked(t, scene.Client(t, server).Mutex("/theirs").Lock)
			_, err := other.Txn(t.Context(), ops[0])
			require.NoError(t, err)
			looked, err := server.Inject(embedded.Fault{Session: lease.Session(), Op: embedded.OpExists, Path: "/deep",
				Action: embedded.HoldReplies, Delay: time.Second})
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() {
				_, err := lease.Txn(context.WithoutCancel(t.Context()), withParents("/deep/er/most", "mine"))
				done <- err
			}()
			require.NoError(t, looked.Wait(t.Context()))
			_, err = other.Txn(t.Context(), ops[1])
			require.NoError(t, err)
			require.NoError(t, <-done)
			requireMine(t, lease, theirs)
		})
	}
}

// TestReplyToTxnWithParentsIsLost: the look, the request or the reply. It is carried out once, and has one result.
func TestReplyToTxnWithParentsIsLost(t *testing.T) {
	for _, op := range []embedded.Op{embedded.OpExists, embedded.OpMulti} {
		for _, action := range []embedded.Action{embedded.CutBefore, embedded.CutAfter} {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				lease := scene.Locked(t, scene.Client(t, server).Mutex("/lock").Lock)
				struck, err := server.Inject(embedded.Fault{Op: op, Path: "/deep", Action: action})
				require.NoError(t, err)
				results, err := lease.Txn(t.Context(), withParents("/deep/er/most", "mine"))
				require.NoError(t, err)
				require.NoError(t, struck.Wait(t.Context()))
				require.Equal(t, []locks.OpResult{{Path: "/deep/er/most"}}, results)
				requireMine(t, lease, "")
			})
		}
	}
}
