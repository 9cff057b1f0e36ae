package txn

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
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
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		zk.Write(t, "/value", "old")

		_, err := lease.Txn(patient.Deadline(t), withParents("/a/b/c", "new"), locks.Set("/value", nil, 7))
		require.ErrorIs(t, err, zkconn.ErrBadVersion)
		require.Equal(t, stories.Absent, zk.Read(t, "/a"), "all or nothing")

		sequential := locks.CreateSequential("/a/b/d/n-", []byte("one"))
		sequential.Parents = true
		ops := []locks.Op{locks.Set("/value", []byte("new"), 0), withParents("/a/b/c", "new"), sequential, locks.Create("/a/x", nil)}
		results, err := lease.Txn(patient.Deadline(t), ops...)
		require.NoError(t, err)
		require.Len(t, results, len(ops), "those of the ops, in their order")
		require.Equal(t, int32(1), results[0].Version)
		require.Equal(t, []string{"/a/b/c", "/a/b/d/n-0000000000", "/a/x"}, []string{results[1].Path, results[2].Path, results[3].Path})
		require.True(t, ops[1].Parents, "the caller's stay as they are")
		for path, want := range map[string]string{"/a": "", "/a/b": "", "/a/b/c": "new", "/a/b/d": "", results[2].Path: "one"} {
			require.Equal(t, stories.Written{Data: want, Version: 0}, zk.Read(t, path), path)
		}

		_, err = lease.Txn(patient.Deadline(t), withParents("/a/b/c", "again"))
		require.ErrorIs(t, err, zkconn.ErrNodeExists)
		results, err = lease.Txn(patient.Deadline(t), locks.Create("/p", []byte("mine")), withParents("/p/q/r", "new"))
		require.NoError(t, err)
		require.Equal(t, []locks.OpResult{{Path: "/p"}, {Path: "/p/q/r"}}, results)
		require.Equal(t, stories.Written{Data: "mine", Version: 0}, zk.Read(t, "/p"))
	})
}

// TestTxnMakesNoParentsFor what makes no sense: it is refused, and nothing is sent over and over.
func TestTxnMakesNoParentsFor(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		set := locks.Set("/x/y", nil, locks.AnyVersion)
		set.Parents = true
		_, err := lease.Txn(patient.Deadline(t), set)
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		_, err = lease.Txn(patient.Deadline(t), withParents("/x/y/z", ""), locks.Create("/x/y", nil))
		require.ErrorIs(t, err, zkconn.ErrNodeExists, "a parent that comes behind its child")
		zk.Write(t, "/gone", "")
		_, err = lease.Txn(patient.Deadline(t), locks.Delete("/gone", locks.AnyVersion), withParents("/gone/x", ""))
		require.ErrorIs(t, err, zkconn.ErrNoNode, "a parent that the transaction deletes")
		ephemeral := locks.Create("/short", nil)
		ephemeral.Ephemeral = true
		_, err = lease.Txn(patient.Deadline(t), ephemeral)
		require.NoError(t, err)
		_, err = lease.Txn(patient.Deadline(t), withParents("/short/x/y", ""))
		require.ErrorIs(t, err, zkconn.ErrNoChildrenForEphemerals)
		require.Equal(t, []stories.Written{stories.Absent, {Data: "", Version: 0}},
			[]stories.Written{zk.Read(t, "/x"), zk.Read(t, "/gone")})
	})
}

// TestManyMakeTheSameParents: holders of different locks need the same parents at the same moment. Each transaction is
// carried out, once.
func TestManyMakeTheSameParents(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const holders, rounds = 4, 10
		var leases []*locks.Lease
		for n := range holders {
			leases = append(leases, patient.Locked(t, zk.Open(t).Mutex("/lock"+strconv.Itoa(n)).Lock))
		}
		for round := range rounds {
			root := "/round" + strconv.Itoa(round)
			var all sync.WaitGroup
			for n, lease := range leases {
				all.Go(func() {
					results, err := lease.Txn(patient.Deadline(t), withParents(root+"/a/b/n"+strconv.Itoa(n), strconv.Itoa(n)))
					if err != nil || len(results) != 1 {
						t.Error(results, err)
					}
				})
			}
			all.Wait()
			require.Len(t, zk.Children(t, zk.Raw(t), root+"/a/b"), holders)
		}
	})
}

// TestParentsChangeMeanwhile: what was found out about the parents is no longer true when the transaction arrives.
func TestParentsChangeMeanwhile(t *testing.T) {
	for name, meanwhile := range map[string]func(other *locks.Lease) error{
		"one is made": func(other *locks.Lease) error {
			_, err := other.Txn(context.Background(), withParents("/deep/er", "theirs"))
			return err
		},
		"one is deleted": func(other *locks.Lease) error {
			_, err := other.Txn(context.Background(), locks.Delete("/deep", locks.AnyVersion))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client, others := bubble.Client(t, server), bubble.Client(t, server)
				lease, other := patient.Locked(t, client.Mutex("/lock").Lock), patient.Locked(t, others.Mutex("/theirs").Lock)
				theirs := ""
				if name == "one is deleted" {
					_, err := other.Txn(t.Context(), locks.Create("/deep", nil))
					require.NoError(t, err)
				} else {
					theirs = "theirs"
				}
				looked, err := server.Inject(embedded.Fault{Session: lease.Session(), Op: embedded.OpExists, Path: "/deep",
					Action: embedded.HoldReplies, Delay: time.Second})
				require.NoError(t, err)
				done := make(chan error, 1)
				go func() {
					_, err := lease.Txn(context.WithoutCancel(t.Context()), withParents("/deep/er/most", "mine"))
					done <- err
				}()
				require.NoError(t, looked.Wait(t.Context()))
				require.NoError(t, meanwhile(other))
				require.NoError(t, <-done)
				for path, want := range map[string]string{"/deep/er": theirs, "/deep/er/most": "mine"} {
					data, version, err := lease.Get(t.Context(), path)
					require.NoError(t, err)
					require.Equal(t, stories.Written{Data: want, Version: 0}, stories.Written{Data: string(data), Version: version})
				}
			})
		})
	}
}

// TestReplyToTxnWithParentsIsLost: the look, the request or the reply. It is carried out once, and has one result.
func TestReplyToTxnWithParentsIsLost(t *testing.T) {
	for name, fault := range map[string]embedded.Fault{
		"the request of the look": {Op: embedded.OpExists, Path: "/deep", Action: embedded.CutBefore},
		"the reply to the look":   {Op: embedded.OpExists, Path: "/deep", Action: embedded.CutAfter},
		"the request":             {Op: embedded.OpMulti, Path: "/deep", Action: embedded.CutBefore},
		"the reply":               {Op: embedded.OpMulti, Path: "/deep", Action: embedded.CutAfter},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client := bubble.Client(t, server)
				lease := patient.Locked(t, client.Mutex("/lock").Lock)
				struck, err := server.Inject(fault)
				require.NoError(t, err)
				results, err := lease.Txn(t.Context(), withParents("/deep/er", "mine"))
				require.NoError(t, err)
				require.NoError(t, struck.Wait(t.Context()))
				require.Equal(t, []locks.OpResult{{Path: "/deep/er"}}, results)
				data, version, err := lease.Get(t.Context(), "/deep/er")
				require.NoError(t, err)
				require.Equal(t, stories.Written{Data: "mine", Version: 0}, stories.Written{Data: string(data), Version: version})
			})
		})
	}
}
