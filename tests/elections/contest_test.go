package elections

import (
	"bytes"
	"context"
	"errors"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestContestBehindAPersistentNode: the error of a Lock says that no session's end deletes the node that it waits for.
func TestContestBehindAPersistentNode(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	zk.Write(t, "/taken", "settings")
	waited := &locks.Error{}
	scene.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(scene.Deadline(t), 200*time.Millisecond)
		defer cancel()
		_, err := client.Contest("/taken").Lock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		return errors.As(err, &waited) && waited.Behind.Library != messages.LibraryUnknown
	}, "nothing is said of the node")
	require.Equal(t, messages.LibraryNone, waited.Behind.Library)
	require.ErrorContains(t, waited, "behind taken, no lock, a persistent node that stands until somebody deletes it")

	waiting := scene.Elsewhere(scene.Deadline(t), client.Contest("/taken").Lock)
	require.NoError(t, zk.Raw(t).Delete(zk.Root()+"/taken", -1))
	got := scene.Receive(t, waiting)
	require.NoError(t, got.Err)
	scene.GiveBack(t, got.Lease)
}

// TestContestNodeIsReplaced: somebody else's node stands where ours was. The lease is lost, and theirs stays,
// whether we give ours back before we hear of it or after.
func TestContestNodeIsReplaced(t *testing.T) {
	replace := func(t *testing.T, o scene.Outside) {
		require.NoError(t, o.Delete(o.At.Root()+"/arena/c", -1))
		_, err := o.Create(o.At.Root()+"/arena/c", []byte("theirs"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	lease := scene.Contest.Holds(t, client, "/arena/c")
	scene.CatchUp(t, client)
	replace(t, o)
	<-lease.Context().Done()
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
	require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
	_, err := client.Contest("/arena/c").TryLock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	data, _, err := o.Get(at.Root() + "/arena/c")
	require.NoError(t, err)
	require.Equal(t, "theirs", string(data))

	waiting := scene.Elsewhere(scene.Deadline(t), client.Contest("/arena/c").Lock)
	require.NoError(t, o.Delete(at.Root()+"/arena/c", -1))
	got := scene.Receive(t, waiting)
	require.NoError(t, got.Err)
	// Unlock is asked for before anybody hears that the node is another's.
	proxy := at.Proxy(t)
	other := scene.Open(t, proxy.Addr()+at.Root())
	scene.GiveBack(t, got.Lease)
	lease = scene.Locked(t, other.Contest("/arena/c").Lock)
	scene.CatchUp(t, other)
	proxy.Hold(true)
	replace(t, o)
	done := make(chan error, 1)
	go func() { done <- lease.Unlock(scene.Deadline(t)) }()
	scene.Receive(t, lease.Context().Done())
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	proxy.Hold(false)
	if err := <-done; err != nil { // which of the two was first is open
		require.ErrorIs(t, err, locks.ErrLost)
	}
	data, _, err = o.Get(at.Root() + "/arena/c")
	require.NoError(t, err, "theirs stays")
	require.Equal(t, "theirs", string(data))
}

// TestContestSaysWhoHoldsAgain: a revoke request was meant for the holder before, and arrives when another has made
// the node anew: it names the one before. The new holder is asked, knows its node by the servers' numbers and not by
// what was written there, and soon the node names it again.
func TestContestSaysWhoHoldsAgain(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two, asker, raw := at.Open(t), at.Open(t), at.Open(t), at.Raw(t)
	before := scene.Locked(t, one.Contest("/late", locks.WithLabel("before")).Lock)
	_, err := asker.Revoke(scene.Deadline(t), "/late")
	require.NoError(t, err)
	_, err = raw.Sync(at.Root() + "/late") // its member may lag
	require.NoError(t, err)
	late, _, err := raw.Get(at.Root() + "/late")
	require.NoError(t, err)
	require.Contains(t, string(late), "before")
	require.False(t, bytes.Contains(late, []byte(`"id"`)), "nobody knows its node by a request: %s", late)
	scene.GiveBack(t, before)

	lease := scene.Locked(t, two.Contest("/late", locks.WithLabel("now")).Lock)
	_, err = raw.Set(at.Root()+"/late", late, 0)
	require.NoError(t, err)
	scene.AwaitAsked(t, lease)
	scene.Eventually(t, func() bool {
		all := scene.QueueOf(t, asker, "/late")
		return len(all) == 1 && all[0].Label == "now" && all[0].Asked
	}, "it goes on naming the one before")
	require.True(t, lease.Valid())
	require.Equal(t, lease.Session(), scene.QueueOf(t, asker, "/late")[0].Session)
	scene.Contest.Fails(t, two, "/late") // another request of the session is not the holder
	scene.GiveBack(t, lease)
	scene.AwaitNone(t, at, "")
}

// guardOf reads the name of the guard in the data of the contest /arena/c, and looks for both nodes.
func guardOf(t *testing.T, o scene.Outside) string {
	t.Helper()
	data, _, err := o.Get(o.At.Root() + "/arena/c")
	require.NoError(t, err)
	owner, ours := queue.ParseOwner(data)
	require.True(t, ours)
	require.Equal(t, []string{"c", owner.Guard}, o.At.Children(t, o.Conn, "/arena"))
	return owner.Guard
}

// TestContestRemovedLate: the transaction that removes a node, and the one that makes it, are refused once more. The next
// holder has a guard of another name.
func TestContestRemovedLate(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	lease := scene.Contest.Holds(t, client, "/arena/c")
	node, guard := at.Root()+"/arena/c", at.Root()+"/arena/"+guardOf(t, o)
	removal := []any{&zk.DeleteRequest{Path: guard, Version: -1}, &zk.DeleteRequest{Path: node, Version: -1}}
	creation := []any{&zk.CreateRequest{Path: node, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral},
		&zk.CreateRequest{Path: guard, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}}
	scene.GiveBack(t, lease)
	require.Empty(t, at.Children(t, o.Conn, "/arena"))
	next := scene.Contest.Holds(t, at.Open(t), "/arena/c")
	require.NotEqual(t, path.Base(guard), guardOf(t, o))
	for _, late := range [][]any{removal, creation} {
		_, err := o.Multi(late...)
		require.Error(t, err)
		guardOf(t, o)
	}
	scene.GiveBack(t, next)
	scene.AwaitNone(t, at, "/arena")
}

// TestContestBrokenWithItsGuard: an operator breaks a holder, as Queue has shown it, in one transaction with its guard, and
// nothing is left of it. Of another the data are replaced, which told the guard. The holder deletes that one. Lists of locks
// and of queues do not have guards, and do not look at them.
func TestContestBrokenWithItsGuard(t *testing.T) {
	server := embedded.Run(t)
	at := scene.At("", server.Addr()).Below(t)
	client, operator, o := at.Open(t), at.Open(t), scene.Look(t, at)
	named := func(node string, op embedded.Op) *embedded.Injection { // counts, and changes nothing
		counted, err := server.Inject(embedded.Fault{Op: op, Path: at.Root() + "/arena/" + node, Count: 100})
		require.NoError(t, err)
		return counted
	}
	lease := scene.Contest.Holds(t, client, "/arena/c")
	transactions := named(guardOf(t, o), embedded.OpMulti) // the holder deletes a guard by itself
	looks := named("c-*-guard", 0)
	require.Empty(t, scene.QueueOf(t, operator, "/arena"))
	all, err := operator.Locks(scene.Deadline(t), "/")
	require.NoError(t, err)
	require.Equal(t, []messages.LockCount{{Path: "/arena/c", Contest: true, Holders: 1}}, all.Locks)
	require.Empty(t, all.Unread)
	require.Zero(t, looks.Hits())

	for _, data := range []string{"", queue.CuratorRevokeRequest} {
		if data != "" {
			lease = scene.Contest.Holds(t, client, "/arena/c")
			o.Write(t, "/arena", "c", data)
		}
		require.NoError(t, operator.Break(scene.Deadline(t), scene.QueueOf(t, operator, "/arena/c")[0]))
		scene.AwaitLost(t, lease)
		scene.AwaitNone(t, at, "/arena")
	}
	require.Equal(t, 1, transactions.Hits())
}

// TestContestWeighsBothNodes: the chroot is part of both paths.
func TestContestWeighsBothNodes(t *testing.T) {
	at := scene.OnEmbedded(t)
	lease := scene.Contest.Holds(t, at.Open(t), "/arena/c")
	both := 2*(4+len(at.Root()+"/arena/")) + len(guardOf(t, scene.Look(t, at))) + len("c")
	scene.GiveBack(t, lease)
	_, err := at.Open(t, locks.WithMaxNodeBytes(both-1)).Contest("/arena/c").TryLock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrSessionFull)
	scene.GiveBack(t, scene.Locked(t, at.Open(t, locks.WithMaxNodeBytes(both)).Contest("/arena/c").TryLock))
}
