package access

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Every other kind of lock among several users.
func TestKindsOfLocksOfSeveralUsers(t *testing.T) {
	tell(t, []story{
		{"lock for readers and writers has the lists asked for", readWriteLists},
		{"a writer becomes a reader with the list asked for", downgraded},
		{"watching the whole lock path needs no right to read contenders", watchAll},
		{"a semaphore's number needs WRITE, and none once it is there", semaphoreNumber},
		{"a contest has the lists asked for", contestLists},
		{"a contest whose parent may not be listed, and the reply to its create is lost", contestUnlisted},
		{"a contest whose node may not be made", contestNotMade},
		{"a contest whose node may not be deleted", contestNotDeleted},
	})
}

// writerAt, readAt, permitAt and contestAt ask for other kinds of locks; the semaphore has one permit.
func writerAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.RWMutex(path, observe).Lock
	}
}

func readAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.RWMutex(path, observe).RLock
	}
}

func permitAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Semaphore(path, 1, observe).Weight(1).Lock
	}
}

func contestAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Contest(path, observe).Lock
	}
}

func readWriteLists(t *testing.T, at *place) {
	client := patient.Open(t, at.Connect()+"/ns", locks.WithACL(localhost(zk.PermAll)...))
	lease, err := client.RWMutex("/bar").Lock(patient.Deadline(t))
	require.NoError(t, err)
	for _, path := range []string{"/ns", "/ns/bar", "/ns/bar/" + lease.Node()} {
		require.Equal(t, localhost(zk.PermAll), at.acl(t, "", path), path)
	}
	patient.GiveBack(t, lease)
	lease, err = client.RWMutex("/bar").RLock(patient.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/ns/bar/"+lease.Node()))
	patient.GiveBack(t, lease)
}

func downgraded(t *testing.T, at *place) {
	writer, err := at.mine(t, at.Connect()).RWMutex("/lock").Lock(patient.Deadline(t))
	require.NoError(t, err)
	reader, err := writer.Downgrade(patient.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/lock/"+reader.Node()))
	require.Equal(t, []string{reader.Node()}, at.children(t, alice, "/lock"))
	patient.GiveBack(t, reader)
}

func watchAll(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	first := patient.LockAt(t, at.mine(t, at.Connect()), "/lock")
	b := patient.Open(t, at.Connect(), credential(bob), locks.WithSessionTimeout(seldom))
	second := patient.Wait(t, b, func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Mutex("/lock", observe, locks.WithWatchAll()).Lock
	})
	patient.GiveBack(t, first)
	patient.GiveBack(t, second.Granted(t))
}

func semaphoreNumber(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead | zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/permits")
	client := patient.Open(t, at.Connect(), credential(alice))
	permit := client.Semaphore("/permits", 2).Weight(1)
	_, err := permit.Lock(patient.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/permits")
	at.requireCount(t, 0, "/permits")
	use(t, client, "/elsewhere")
	his := patient.Locked(t, patient.Open(t, at.Connect(), credential(bob)).Semaphore("/permits", 2).Weight(1).Lock)
	patient.GiveBack(t, his, patient.Locked(t, permit.Lock))
	at.requireCount(t, 0, "/permits")
}

func contestLists(t *testing.T, at *place) {
	client := patient.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe...), locks.WithParentACL(may(alice, zk.PermAll), all(zk.PermRead)))
	lease, err := client.Contest("/contests/one").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}, at.acl(t, alice, "/contests"))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/contests/one"))
	patient.GiveBack(t, lease)
	at.requireCount(t, 0, "/contests")
}

// The guard is looked for by its name, so the session needs no list, and does not end.
func contestUnlisted(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/contests")
	proxy := at.Proxy(t)
	client := patient.Open(t, proxy.Addr(), locks.WithSessionTimeout(seldom))
	session, other := client.Session().ID(), patient.LockAt(t, client, "/elsewhere")
	lost := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: rig.DropReply, Path: func(path string) bool { return strings.HasSuffix(path, "/one") }})
	lease, err := client.Contest("/contests/one").Lock(patient.Deadline(t))
	require.NoError(t, err)
	patient.Receive(t, lost.Fired())
	require.Equal(t, session, client.Session().ID())
	require.True(t, other.Valid())
	patient.GiveBack(t, lease)
	at.requireCount(t, 0, "/contests")
	patient.GiveBack(t, other)
}

func contestNotMade(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/contests")
	client := patient.Open(t, at.Connect())
	_, err := client.Contest("/contests/one").Lock(patient.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/contests/one")
	at.requireCount(t, 0, "/contests")
	use(t, client, "/elsewhere")
}

func contestNotDeleted(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead | zk.PermCreate), may(bob, zk.PermAll)}, "/contests")
	client := patient.Open(t, at.Connect())
	session := client.Session().ID()
	lease, err := client.Contest("/contests/one").Lock(patient.Deadline(t))
	require.NoError(t, err)
	err = lease.Unlock(patient.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/contests/one")
	at.awaitCount(t, 0, "/contests")
	use(t, client, "/elsewhere")
	require.NotEqual(t, session, client.Session().ID())
}
