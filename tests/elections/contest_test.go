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
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestContestBehindAPersistentNode: the error of a Lock says that no session's end deletes the node that it waits for.
func TestContestBehindAPersistentNode(t *testing.T) {
	zk := stories.OnEmbedded(t)
	client := zk.Open(t)
	zk.Write(t, "/taken", "settings")
	waited := &locks.Error{}
	patient.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(patient.Deadline(t), 200*time.Millisecond)
		defer cancel()
		_, err := client.Contest("/taken").Lock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		return errors.As(err, &waited) && waited.Behind.Library != messages.LibraryUnknown
	}, "nothing is said of the node")
	require.Equal(t, messages.LibraryNone, waited.Behind.Library)
	require.ErrorContains(t, waited, "behind taken, no lock, a persistent node that stands until somebody deletes it")

	waiting := patient.Elsewhere(patient.Deadline(t), client.Contest("/taken").Lock)
	require.NoError(t, zk.Raw(t).Delete(zk.Root()+"/taken", -1))
	got := patient.Receive(t, waiting)
	require.NoError(t, got.Err)
	patient.GiveBack(t, got.Lease)
}

// TestContestNodeIsReplaced: somebody else's node stands where ours was. The lease is lost, and theirs stays,
// whether we give ours back before we hear of it or after.
func TestContestNodeIsReplaced(t *testing.T) {
	replace := func(t *testing.T, o stories.Outside) {
		require.NoError(t, o.Delete(o.At.Root()+"/arena/c", -1))
		_, err := o.Create(o.At.Root()+"/arena/c", []byte("theirs"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	at := stories.OnEmbedded(t)
	client, o := at.Open(t), stories.Look(t, at)
	rec := patient.Recorder(t, client)
	lease := patient.Locked(t, client.Contest("/arena/c", patient.ObservedBy(rec)).Lock)
	patient.CatchUp(t, client)
	replace(t, o)
	<-lease.Context().Done()
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
	_, err := client.Contest("/arena/c").TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	data, _, err := o.Get(at.Root() + "/arena/c")
	require.NoError(t, err)
	require.Equal(t, "theirs", string(data))

	waiting := patient.Elsewhere(patient.Deadline(t), client.Contest("/arena/c").Lock)
	require.NoError(t, o.Delete(at.Root()+"/arena/c", -1))
	got := patient.Receive(t, waiting)
	require.NoError(t, got.Err)
	// Unlock is asked for before anybody hears that the node is another's.
	proxy := at.Proxy(t)
	other := patient.Open(t, proxy.Addr()+at.Root())
	patient.GiveBack(t, got.Lease)
	lease = patient.Locked(t, other.Contest("/arena/c").Lock)
	patient.CatchUp(t, other)
	proxy.Hold(true)
	replace(t, o)
	done := make(chan error, 1)
	go func() { done <- lease.Unlock(patient.Deadline(t)) }()
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
	at := stories.OnEmbedded(t)
	one, two, asker, raw := at.Open(t), at.Open(t),
		at.Open(t), at.Raw(t)
	before := patient.Locked(t, one.Contest("/late", locks.WithLabel("before")).Lock)
	_, err := asker.Revoke(patient.Deadline(t), "/late")
	require.NoError(t, err)
	_, err = raw.Sync(at.Root() + "/late") // its member may lag
	require.NoError(t, err)
	late, _, err := raw.Get(at.Root() + "/late")
	require.NoError(t, err)
	require.Contains(t, string(late), "before")
	require.False(t, bytes.Contains(late, []byte(`"id"`)), "nobody knows its node by a request: %s", late)
	patient.GiveBack(t, before)

	lease := patient.Locked(t, two.Contest("/late", locks.WithLabel("now")).Lock)
	_, err = raw.Set(at.Root()+"/late", late, 0)
	require.NoError(t, err)
	patient.AwaitAsked(t, lease)
	patient.Eventually(t, func() bool {
		all := patient.QueueOf(t, asker, "/late")
		return len(all) == 1 && all[0].Label == "now" && all[0].Asked
	}, "it goes on naming the one before")
	require.True(t, lease.Valid())
	require.Equal(t, lease.Session(), patient.QueueOf(t, asker, "/late")[0].Session)
	patient.Contest.Fails(t, two, "/late") // another request of the session is not the holder
	patient.GiveBack(t, lease)
	stories.AwaitNone(t, at, "")
}

// guardOf reads the name of the guard in the data of the contest /arena/c, and looks for both nodes.
func guardOf(t *testing.T, o stories.Outside) string {
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
	at := stories.OnEmbedded(t)
	client, o := at.Open(t), stories.Look(t, at)
	lease := patient.Contest.Holds(t, client, "/arena/c")
	node, guard := at.Root()+"/arena/c", at.Root()+"/arena/"+guardOf(t, o)
	removal := []any{&zk.DeleteRequest{Path: guard, Version: -1}, &zk.DeleteRequest{Path: node, Version: -1}}
	creation := []any{&zk.CreateRequest{Path: node, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral},
		&zk.CreateRequest{Path: guard, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}}
	patient.GiveBack(t, lease)
	require.Empty(t, at.Children(t, o.Conn, "/arena"))
	next := patient.Contest.Holds(t, at.Open(t), "/arena/c")
	require.NotEqual(t, path.Base(guard), guardOf(t, o))
	for _, late := range [][]any{removal, creation} {
		_, err := o.Multi(late...)
		require.Error(t, err)
		guardOf(t, o)
	}
	patient.GiveBack(t, next)
	stories.AwaitNone(t, at, "/arena")
}

// TestContestBrokenWithItsGuard: an operator breaks a holder, as Queue has shown it, in one transaction with its guard, and
// nothing is left of it. Of another the data are replaced, which told the guard. The holder deletes that one. Lists of locks
// and of queues do not have guards, and do not look at them.
func TestContestBrokenWithItsGuard(t *testing.T) {
	server := embedded.Run(t)
	at := stories.At("", server.Addr()).Below(t)
	client, operator, o := at.Open(t), at.Open(t), stories.Look(t, at)
	named := func(node string, op embedded.Op) *embedded.Injection { // counts, and changes nothing
		counted, err := server.Inject(embedded.Fault{Op: op, Path: at.Root() + "/arena/" + node, Count: 100})
		require.NoError(t, err)
		return counted
	}
	lease := patient.Contest.Holds(t, client, "/arena/c")
	transactions := named(guardOf(t, o), embedded.OpMulti) // the holder deletes a guard by itself
	looks := named("c-*-guard", 0)
	require.Empty(t, patient.QueueOf(t, operator, "/arena"))
	all, err := operator.Locks(patient.Deadline(t), "/")
	require.NoError(t, err)
	require.Equal(t, []messages.LockCount{{Path: "/arena/c", Contest: true, Holders: 1}}, all.Locks)
	require.Empty(t, all.Unread)
	require.Zero(t, looks.Hits())

	for _, data := range []string{"", queue.CuratorRevokeRequest} {
		if data != "" {
			lease = patient.Contest.Holds(t, client, "/arena/c")
			o.Write(t, "/arena", "c", data)
		}
		require.NoError(t, operator.Break(patient.Deadline(t), patient.QueueOf(t, operator, "/arena/c")[0]))
		patient.AwaitLost(t, lease)
		stories.AwaitNone(t, at, "/arena")
	}
	require.Equal(t, 1, transactions.Hits())
}

// TestContestWeighsBothNodes: the chroot is part of both paths.
func TestContestWeighsBothNodes(t *testing.T) {
	at := stories.OnEmbedded(t)
	lease := patient.Contest.Holds(t, at.Open(t), "/arena/c")
	both := 2*(4+len(at.Root()+"/arena/")) + len(guardOf(t, stories.Look(t, at))) + len("c")
	patient.GiveBack(t, lease)
	_, err := at.Open(t, locks.WithMaxNodeBytes(both-1)).Contest("/arena/c").TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrSessionFull)
	patient.GiveBack(t, patient.Locked(t, at.Open(t, locks.WithMaxNodeBytes(both)).Contest("/arena/c").TryLock))
}
