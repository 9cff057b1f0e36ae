package elections

import (
	"path"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// arena is the servers of a test with one contest, /arena/c.
type arena struct {
	*testing.T
	stories.Outside
	server        *embedded.Server
	client, other *locks.Client
}

func newArena(t *testing.T) *arena {
	t.Helper()
	server := embedded.Run(t)
	at := stories.At("", server.Addr())
	return &arena{t, stories.Look(t, at), server, at.Open(t), at.Open(t)}
}

// hold has the first client hold the contest, and gives the name of the guard.
func (a *arena) hold() (*locks.Lease, string) {
	a.Helper()
	lease := patient.Locked(a, a.client.Contest("/arena/c").Lock)
	return lease, a.guard()
}

// guard reads the name of the guard in the data of the node, and looks for both.
func (a *arena) guard() string {
	a.Helper()
	data, _, err := a.Get("/arena/c")
	require.NoError(a, err)
	o, ours := queue.ParseOwner(data)
	require.True(a, ours)
	require.Equal(a, []string{"c", o.Guard}, a.nodes())
	return o.Guard
}

// nodes lists the nodes.
func (a *arena) nodes() []string {
	a.Helper()
	_, err := a.Sync("/arena")
	require.NoError(a, err)
	children, _, err := a.Children("/arena")
	require.NoError(a, err)
	slices.Sort(children)
	return children
}

// names has requests counted that name a node, and changes nothing.
func (a *arena) names(node string, op embedded.Op) *embedded.Injection {
	a.Helper()
	counted, err := a.server.Inject(embedded.Fault{Op: op, Path: "/arena/" + node, Count: 100})
	require.NoError(a, err)
	return counted
}

// await waits until there are so many nodes.
func (a *arena) await(many int) {
	a.Helper()
	patient.Eventually(a, func() bool { return len(a.nodes()) == many }, "%d nodes", many)
}

// TestContestRemovedLate: the transaction that removes a node, and the one that makes it, are refused once more. The next
// holder has a guard of another name.
func TestContestRemovedLate(t *testing.T) {
	a := newArena(t)
	lease, guard := a.hold()
	removal := []any{&zk.DeleteRequest{Path: "/arena/" + guard, Version: -1}, &zk.DeleteRequest{Path: "/arena/c", Version: -1}}
	creation := []any{&zk.CreateRequest{Path: "/arena/c", Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral},
		&zk.CreateRequest{Path: "/arena/" + guard, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}}
	patient.GiveBack(t, lease)
	require.Empty(t, a.nodes())
	next, err := a.other.Contest("/arena/c").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.NotEqual(t, guard, a.guard())
	for _, late := range [][]any{removal, creation} {
		_, err = a.Multi(late...)
		require.Error(t, err)
		a.guard()
	}
	require.True(t, next.Valid())
	patient.GiveBack(t, next)
	a.await(0)
}

// TestContestWithoutItsGuard: somebody has deleted the guard. The node goes all the same when it is given back.
func TestContestWithoutItsGuard(t *testing.T) {
	for name, data := range map[string]func([]byte) []byte{
		"deleted":               func(data []byte) []byte { return data },
		"and its data replaced": func([]byte) []byte { return []byte(queue.RevokeRequest) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t)
			lease, guard := a.hold()
			require.NoError(t, a.Delete("/arena/"+guard, -1))
			was, _, err := a.Get("/arena/c")
			require.NoError(t, err)
			_, err = a.Set("/arena/c", data(was), -1)
			require.NoError(t, err)
			patient.GiveBack(t, lease)
			a.await(0)
		})
	}
}

// TestContestNodeDeletedByItself: the guard does not stay for as long as the session lives, and the next holder is spared.
func TestContestNodeDeletedByItself(t *testing.T) {
	a := newArena(t)
	lease, guard := a.hold()
	require.NoError(t, a.Delete("/arena/c", -1))
	patient.AwaitLost(t, lease)
	next := patient.Locked(t, a.other.Contest("/arena/c").Lock)
	a.await(2)
	require.NotEqual(t, guard, a.guard())
	require.True(t, next.Valid())
	patient.GiveBack(t, next)
	a.await(0)
}

// TestContestBrokenWithItsGuard: an operator breaks a holder, as Queue has shown it, while another holds by now, and then
// that one. Only the second is broken, in one transaction with its guard, and nothing is left of it. Of a third the data are
// replaced, which told the guard. The holder deletes that one.
func TestContestBrokenWithItsGuard(t *testing.T) {
	a := newArena(t)
	lease, _ := a.hold()
	seen := patient.QueueOf(t, a.other, "/arena/c")[0]
	patient.GiveBack(t, lease)
	second, guard := a.hold()
	require.ErrorIs(t, a.other.Break(patient.Deadline(t), seen), locks.ErrGone)
	require.Equal(t, guard, a.guard())
	require.True(t, second.Valid())
	now := patient.QueueOf(t, a.other, "/arena/c")[0]
	transactions := a.names(guard, embedded.OpMulti) // the holder deletes a guard by itself
	require.NoError(t, a.other.Break(patient.Deadline(t), now))
	require.Equal(t, 1, transactions.Hits())
	patient.AwaitLost(t, second)
	a.await(0)

	third, _ := a.hold()
	_, err := a.Set("/arena/c", []byte(queue.CuratorRevokeRequest), -1)
	require.NoError(t, err)
	require.NoError(t, a.other.Break(patient.Deadline(t), patient.QueueOf(t, a.other, "/arena/c")[0]))
	patient.AwaitLost(t, third)
	a.await(0)
}

// TestGuardIsNoLock: lists of locks and of queues do not have it, and do not look at it.
func TestGuardIsNoLock(t *testing.T) {
	a := newArena(t)
	below := patient.Locked(t, a.other.Mutex("/arena").Lock)
	lease := patient.Locked(t, a.client.Contest("/arena/c").Lock)
	looks := a.names("c-*-guard", 0)
	require.Len(t, patient.QueueOf(t, a.client, "/arena"), 1)
	all, err := a.client.Locks(patient.Deadline(t), "/")
	require.NoError(t, err)
	require.Equal(t, []messages.LockCount{{Path: "/arena", Holders: 1}, {Path: "/arena/c", Contest: true, Holders: 1}}, all.Locks)
	require.Empty(t, all.Unread)
	require.Zero(t, looks.Hits())
	patient.GiveBack(t, lease, below)
	a.await(0)
}

// TestContestWeighsBothNodes: the chroot is part of both paths.
func TestContestWeighsBothNodes(t *testing.T) {
	a := newArena(t)
	lease, guard := a.hold()
	patient.GiveBack(t, lease)
	_, err := a.Create("/chroot", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	for _, chroot := range []string{"", "/chroot"} {
		const lengths = 2 * 4
		both := len(chroot+path.Join("/arena", guard)) + len(chroot+"/arena/c") + lengths
		tight := patient.Open(t, a.At.Connect()+chroot, locks.WithMaxNodeBytes(both-1))
		_, err := tight.Contest("/arena/c").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		wide := patient.Open(t, a.At.Connect()+chroot, locks.WithMaxNodeBytes(both))
		lease = patient.Locked(t, wide.Contest("/arena/c").TryLock)
		patient.GiveBack(t, lease)
	}
}
