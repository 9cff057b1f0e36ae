package txn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestTxn: all parts are carried out, or none, and the results tell what was made.
func TestTxn(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		results, err := lease.Txn(scene.Deadline(t), locks.Create("/jobs", []byte("all")),
			locks.CreateSequential("/jobs/n-", []byte("one")))
		require.NoError(t, err)
		require.Equal(t, []locks.OpResult{{Path: "/jobs"}, {Path: "/jobs/n-0000000000"}}, results)
		results, err = lease.Txn(scene.Deadline(t), locks.Check("/jobs", 0), locks.Set("/jobs", []byte("some"), 0),
			locks.Delete("/jobs/n-0000000000", locks.AnyVersion))
		require.NoError(t, err)
		require.Equal(t, int32(1), results[1].Version)
		require.Equal(t, scene.Written{Data: "some", Version: 1}, zk.Read(t, "/jobs"))
		require.Equal(t, scene.Absent, zk.Read(t, "/jobs/n-0000000000"))

		_, err = lease.Txn(scene.Deadline(t), locks.Create("/other", nil), locks.Set("/jobs", []byte("more"), 7))
		require.ErrorIs(t, err, zkconn.ErrBadVersion)
		require.ErrorContains(t, err, "/jobs")
		require.Equal(t, scene.Absent, zk.Read(t, "/other"))
		for _, op := range []locks.Op{locks.Delete("/nowhere", locks.AnyVersion), locks.Create("/deep/er", nil), locks.CreateSequential("/deep/er", nil)} {
			_, err = lease.Txn(scene.Deadline(t), op)
			require.ErrorIs(t, err, zkconn.ErrNoNode)
			require.ErrorContains(t, err, op.Path)
			require.NotErrorIs(t, err, locks.ErrLost)
			require.False(t, locks.MayPass(err))
		}
		require.True(t, lease.Valid(), "a part that is refused says nothing about the lock")
		results, err = lease.Txn(scene.Deadline(t), locks.Create("/deep", nil), locks.Create("/deep/er", nil))
		require.NoError(t, err)
		require.Equal(t, "/deep/er", results[1].Path)

		mine := locks.Create("/mine", nil)
		mine.Ephemeral = true
		_, err = lease.Txn(scene.Deadline(t), mine)
		require.NoError(t, err)
		scene.GiveBack(t, lease)
		_, err = lease.Txn(scene.Deadline(t), locks.Set("/jobs", []byte("late"), locks.AnyVersion))
		require.ErrorIs(t, err, locks.ErrReleased)
		require.Equal(t, scene.Written{Data: "some", Version: 1}, zk.Read(t, "/jobs"))
		require.Equal(t, scene.Written{Data: "", Version: 0}, zk.Read(t, "/mine"))
		require.NoError(t, client.Close(scene.Deadline(t)))
		require.Equal(t, scene.Absent, zk.Read(t, "/mine"))
	})
}

// TestTxnRefuses what cannot be guarded or is not well formed, before anything is sent. The lease goes on.
func TestTxnRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t))
		lease, contest := scene.Locked(t, client.Mutex("/lock").Lock), scene.Locked(t, client.Contest("/contest").Lock)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		x := []locks.Op{locks.Create("/x", nil)}
		for _, c := range []struct {
			ctx   context.Context
			lease *locks.Lease
			ops   []locks.Op
			want  error
		}{
			{t.Context(), contest, x, locks.ErrBadAcquire},
			{t.Context(), lease, nil, locks.ErrBadAcquire},
			{t.Context(), lease, []locks.Op{locks.Create("x", nil)}, locks.ErrBadPath},
			{t.Context(), lease, []locks.Op{{Path: "/x"}}, locks.ErrBadAcquire},
			{t.Context(), lease, []locks.Op{locks.Create("/x", make([]byte, 2<<20))}, locks.ErrTooLarge},
			{ended, lease, x, context.Canceled},
		} {
			_, err := c.lease.Txn(c.ctx, c.ops...)
			require.ErrorIs(t, err, c.want)
			require.False(t, locks.MayPass(err))
		}
		_, err := lease.Txn(t.Context(), x...)
		require.NoError(t, err, "it does not exist yet")
		scene.GiveBack(t, lease, contest)
	})
}

// TestTxnOfAHolderThatWasBroken: an operator takes the lock away. Nothing is written, whether or not the holder has heard
// of it.
func TestTxnOfAHolderThatWasBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		scene.WritePlace(t, other)
		for range 10 {
			lease := scene.Locked(t, client.Mutex("/lock").Lock)
			require.NoError(t, other.Break(t.Context(), scene.QueueOf(t, other, "/lock")[0]))
			require.ErrorIs(t, scene.Swap(t.Context(), lease, "stale", locks.AnyVersion), locks.ErrLost)
		}
		scene.RequireAt(t, other, 0)
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

// TestReplyToTxnIsLost: the outcome of the transaction is resolved where it can be known. It is
// carried out once, and a lost request is sent again.
func TestReplyToTxnIsLost(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		for _, c := range lostReplies {
			for action, want := range map[rig.Action]error{rig.DropReply: c.carried, rig.CutBefore: c.cut} {
				t.Run(c.name+map[rig.Action]string{rig.DropReply: ", reply", rig.CutBefore: ", request"}[action], func(t *testing.T) {
					loseReply(t, zk.Below(t), c, action, want)
				})
			}
		}
	})
}

// loses has the next transaction lost that writes to a node, or its reply.
func loses(proxy *rig.Proxy, action rig.Action, path string) *rig.Fault {
	return proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: action, Path: func(at string) bool { return at == path }})
}

func loseReply(t *testing.T, zk *scene.Servers, c lostReply, action rig.Action, want error) {
	zk.Write(t, "/value", "old")
	zk.Write(t, "/dir", "")
	zk.Write(t, "/dir/old", "old")
	proxy := zk.Proxy(t)
	client := scene.Open(t, proxy.Addr()+zk.Root())
	lease := scene.Locked(t, c.lock(client))
	fault := loses(proxy, action, zk.Root()+c.ops[0].Path)
	results, err := lease.Txn(scene.Deadline(t), c.ops...)
	scene.Receive(t, fault.Fired())
	if want == nil {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, want)
		require.NotErrorIs(t, err, locks.ErrLost)
	}
	made := map[string]int{"new": 0}
	conn := zk.Raw(t)
	for _, name := range zk.Children(t, conn, "/dir") {
		made[zk.Read(t, "/dir/"+name).Data]++
	}
	creates, old := 0, 1
	for i, op := range c.ops {
		switch {
		case op.Kind == zkconn.OpSet:
			require.Equal(t, scene.Written{Data: "new", Version: 1}, zk.Read(t, "/value"), "once")
			if err == nil {
				require.Equal(t, int32(1), results[i].Version)
			}
		case op.Kind == zkconn.OpDelete:
			old = 0
		default:
			creates++
			require.Equal(t, "new", zk.Read(t, results[i].Path).Data)
			require.True(t, i == 0 || results[i].Path != results[i-1].Path)
		}
	}
	require.Equal(t, creates, made["new"], "once")
	require.Equal(t, old, made["old"])
	require.True(t, lease.Valid())
	scene.GiveBack(t, lease)
}

// TestTxnEndsWithItsContext: nothing of it is sent afterwards when the connection was down all the time.
func TestTxnEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		scene.WritePlace(t, client)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		d.Be(scene.Down)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := scene.Swap(ctx, lease, "given up", 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, locks.ErrUnknownOutcome)
		time.AfterFunc(100*time.Millisecond, func() { d.Be(scene.Up) })
		require.NoError(t, scene.Swap(t.Context(), lease, "mine", 0), "it goes out when the connection is back")
		scene.GiveBack(t, lease)
		scene.RequireAt(t, client, 1)
	})
}
