package tests

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// written has a node's data and version; absent where there is no node.
type written struct {
	data    string
	version int32
}

var absent = written{"", -1}

func (s *servers) read(t *testing.T, path string) written {
	t.Helper()
	conn := s.Raw(t)
	_, err := conn.Sync(s.root)
	require.NoError(t, err)
	data, stat, err := conn.Get(s.root + path)
	if err == zk.ErrNoNode {
		return absent
	}
	require.NoError(t, err)
	return written{string(data), stat.Version}
}

func (s *servers) write(t *testing.T, path, data string) {
	t.Helper()
	_, err := s.Raw(t).Create(s.root+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

func locked(t *testing.T, lock func(context.Context) (*locks.Lease, error)) *locks.Lease {
	t.Helper()
	lease, err := lock(deadline(t))
	require.NoError(t, err)
	return lease
}

// TestTxn: all parts are carried out, or none, and the results tell what was made.
func TestTxn(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		lease := locked(t, client.Mutex("/lock").Lock)
		results, err := lease.Txn(deadline(t), locks.Create("/jobs", []byte("all")), locks.CreateSequential("/jobs/n-", []byte("one")))
		require.NoError(t, err)
		require.Equal(t, []locks.OpResult{{Path: "/jobs"}, {Path: "/jobs/n-0000000000"}}, results)
		results, err = lease.Txn(deadline(t), locks.Check("/jobs", 0), locks.Set("/jobs", []byte("some"), 0),
			locks.Delete("/jobs/n-0000000000", locks.AnyVersion))
		require.NoError(t, err)
		require.Equal(t, int32(1), results[1].Version)
		require.Equal(t, written{"some", 1}, zk.read(t, "/jobs"))
		require.Equal(t, absent, zk.read(t, "/jobs/n-0000000000"))

		_, err = lease.Txn(deadline(t), locks.Create("/other", nil), locks.Set("/jobs", []byte("more"), 7))
		require.ErrorIs(t, err, zkconn.ErrBadVersion)
		require.ErrorContains(t, err, "/jobs")
		require.Equal(t, absent, zk.read(t, "/other"))
		_, err = lease.Txn(deadline(t), locks.Delete("/nowhere", locks.AnyVersion))
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.NotErrorIs(t, err, locks.ErrLost)
		require.True(t, lease.Valid(), "a part that is refused says nothing about the lock")

		mine := locks.Create("/mine", nil)
		mine.Ephemeral = true
		_, err = lease.Txn(deadline(t), mine)
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))
		_, err = lease.Txn(deadline(t), locks.Set("/jobs", []byte("late"), locks.AnyVersion))
		require.ErrorIs(t, err, locks.ErrReleased)
		require.Equal(t, written{"some", 1}, zk.read(t, "/jobs"))
		require.Equal(t, written{"", 0}, zk.read(t, "/mine"))
		require.NoError(t, client.Close(deadline(t)))
		require.Equal(t, absent, zk.read(t, "/mine"))
	})
}

// TestTxnRefuses what cannot be guarded or is not well formed, before anything is sent.
func TestTxnRefuses(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		contest := locked(t, client.Contest("/contest").Lock)
		_, err := contest.Txn(deadline(t), locks.Create("/x", nil))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		lease := locked(t, client.Mutex("/lock").Lock)
		_, err = lease.Txn(deadline(t))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		_, err = lease.Txn(deadline(t), locks.Create("x", nil))
		require.ErrorIs(t, err, locks.ErrBadPath)
		_, err = lease.Txn(deadline(t), locks.Op{Path: "/x"})
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		_, err = lease.Txn(deadline(t), locks.Create("/x", make([]byte, 2<<20)))
		require.ErrorIs(t, err, zkconn.ErrTooLarge)
		ended, cancel := context.WithCancel(deadline(t))
		cancel()
		_, err = lease.Txn(ended, locks.Create("/x", nil))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, absent, zk.read(t, "/x"))
	})
}

// TestTxnOfAHolderThatWasBroken: an operator takes the lock away. Nothing is written, whether or not the holder has heard
// of it.
func TestTxnOfAHolderThatWasBroken(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		zk.write(t, "/value", "first")
		client := open(t, zk.Connect())
		for range 10 {
			lease := locked(t, client.Mutex("/lock").Lock)
			require.NoError(t, zk.Raw(t).Delete(zk.root+"/lock/"+lease.Node(), -1))
			_, err := lease.Txn(deadline(t), locks.Set("/value", []byte("stale"), locks.AnyVersion))
			require.ErrorIs(t, err, locks.ErrLost)
			require.Equal(t, written{"first", 0}, zk.read(t, "/value"))
		}
	})
}

// lostReply is a transaction whose reply, or which itself, is lost on the way.
type lostReply struct {
	name string
	lock func(*locks.Client) func(context.Context) (*locks.Lease, error)
	ops  []locks.Op
	// carried is the error when the reply was lost, cut when the request was; nil where the outcome is found out.
	carried, cut error
}

func exclusiveLock(c *locks.Client) func(context.Context) (*locks.Lease, error) {
	return c.Mutex("/lock").Lock
}

// sharing takes one lock, and then another that holds together with it, until the first is given back.
func sharing(of func(*locks.Client) (outer, inner locks.Locker),
) func(*locks.Client) func(context.Context) (*locks.Lease, error) {
	return func(c *locks.Client) func(context.Context) (*locks.Lease, error) {
		return func(ctx context.Context) (*locks.Lease, error) {
			outer, inner := of(c)
			lease, err := outer.Lock(ctx)
			if err != nil {
				return nil, err
			}
			second, err := inner.Lock(lease.Context())
			if err == nil {
				context.AfterFunc(lease.Context(), second.Release)
			}
			return lease, err
		}
	}
}

var lostReplies = []lostReply{
	{"set of a version", exclusiveLock, []locks.Op{locks.Set("/value", []byte("new"), 0)}, nil, nil},
	{"set of any version", exclusiveLock, []locks.Op{locks.Set("/value", []byte("new"), locks.AnyVersion)}, nil, nil},
	{"create", exclusiveLock, []locks.Op{locks.Create("/dir/a", []byte("new"))}, nil, nil},
	{"sequential creates", exclusiveLock, []locks.Op{locks.CreateSequential("/dir/n-", []byte("new")),
		locks.CreateSequential("/dir/n-", []byte("new"))}, nil, nil},
	{"set, create and delete", exclusiveLock, []locks.Op{locks.Set("/value", []byte("new"), 0),
		locks.Create("/dir/a", []byte("new")), locks.Delete("/dir/old", 0)}, nil, nil},
	{"delete", exclusiveLock, []locks.Op{locks.Delete("/dir/old", 0)}, locks.ErrUnknownOutcome, nil},
	{"reader", func(c *locks.Client) func(context.Context) (*locks.Lease, error) { return c.RWMutex("/lock").RLock },
		[]locks.Op{locks.Set("/value", []byte("new"), 0)}, locks.ErrUnknownOutcome, nil},
	{"shared by one WithReentry", sharing(func(c *locks.Client) (outer, inner locks.Locker) {
		return c.Mutex("/lock"), c.Mutex("/lock", locks.WithReentry())
	}), []locks.Op{locks.Set("/value", []byte("new"), 0)}, locks.ErrUnknownOutcome, nil},
	{"writer that reads too", sharing(func(c *locks.Client) (outer, inner locks.Locker) {
		return c.RWMutex("/lock"), c.RWMutex("/lock").Reader()
	}), []locks.Op{locks.Set("/value", []byte("new"), 0)}, locks.ErrUnknownOutcome, nil},
	{"writer", func(c *locks.Client) func(context.Context) (*locks.Lease, error) { return c.RWMutex("/lock").Lock },
		[]locks.Op{locks.Set("/value", []byte("new"), 0)}, nil, nil},
}

// TestReplyToTxnIsLost: it is found out what became of the transaction, where that can be known. It is carried out once,
// and a request that was lost is sent again.
func TestReplyToTxnIsLost(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		for _, c := range lostReplies {
			for action, want := range map[rig.Action]error{rig.DropReply: c.carried, rig.CutBefore: c.cut} {
				t.Run(c.name+map[rig.Action]string{rig.DropReply: ", reply", rig.CutBefore: ", request"}[action], func(t *testing.T) {
					loseReply(t, zk.below(t), c, action, want)
				})
			}
		}
	})
}

func loseReply(t *testing.T, zk *servers, c lostReply, action rig.Action, want error) {
	zk.write(t, "/value", "old")
	zk.write(t, "/dir", "")
	zk.write(t, "/dir/old", "old")
	proxy := zk.Proxy(t)
	client := open(t, proxy.Addr()+zk.Root())
	lease := locked(t, c.lock(client))
	fault := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: action,
		Path: func(path string) bool { return path == zk.Root()+c.ops[0].Path }})
	results, err := lease.Txn(deadline(t), c.ops...)
	<-fault.Fired()
	if want == nil {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, want)
		require.NotErrorIs(t, err, locks.ErrLost)
	}
	made := map[string]int{"new": 0}
	conn := zk.Raw(t)
	for _, name := range zk.Children(t, conn, "/dir") {
		made[zk.read(t, "/dir/"+name).data]++
	}
	creates, old := 0, 1
	for i, op := range c.ops {
		switch {
		case op.Kind == zkconn.OpSet:
			require.Equal(t, written{"new", 1}, zk.read(t, "/value"), "once")
			if err == nil {
				require.Equal(t, int32(1), results[i].Version)
			}
		case op.Kind == zkconn.OpDelete:
			old = 0
		default:
			creates++
			require.Equal(t, "new", zk.read(t, results[i].Path).data)
			require.True(t, i == 0 || results[i].Path != results[i-1].Path)
		}
	}
	require.Equal(t, creates, made["new"], "once")
	require.Equal(t, old, made["old"])
	require.True(t, lease.Valid())
	require.NoError(t, lease.Unlock(deadline(t)))
}

// below is the same servers in a chroot of its own.
func (s *servers) below(t *testing.T) *servers {
	t.Helper()
	below := &servers{members: s.members, root: s.root + "/" + itoa(int(chroots.Add(1)))}
	_, err := s.Raw(t).Create(below.root, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return below
}

// TestTxnEndsWithItsContext: nothing of it is sent afterwards when the connection was down all the time.
func TestTxnEndsWithItsContext(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		lease := locked(t, client.Mutex("/lock").Lock)
		proxy.Refuse(true)
		proxy.Cut()
		eventually(t, func() bool { return client.State().Phase == locks.PhaseDisconnected }, "it is not cut")
		ctx, cancel := context.WithTimeout(deadline(t), 20*time.Millisecond)
		defer cancel()
		_, err := lease.Txn(ctx, locks.Create("/x", nil))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, locks.ErrUnknownOutcome)
		waits := make(chan error, 1)
		go func() {
			_, err := lease.Txn(deadline(t), locks.Create("/y", nil))
			waits <- err
		}()
		proxy.Refuse(false)
		require.NoError(t, <-waits, "it goes out when the connection is back")
		require.Equal(t, absent, zk.read(t, "/x"))
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}
