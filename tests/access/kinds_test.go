package access

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Every other kind of lock among several users.
func TestKindsOfLocksOfSeveralUsers(t *testing.T) {
	tell(t, []story{
		{"lock for readers and writers has the lists asked for", readWriteLists},
		{"readers and writers who may not read each other", readWriteUnreadable},
		{"a writer becomes a reader with the list asked for", downgraded},
		{"watching the whole lock path needs no right to read contenders", watchAll},
		{"a semaphore whose number is there needs no WRITE", semaphoreRecorded},
		{"a semaphore whose number may not be written", semaphoreUnrecorded},
		{"a semaphore of contenders who may not read each other", semaphoreUnreadable},
		{"a contest has the lists asked for", contestLists},
		{"a contest whose node others may not read", contestUnreadable},
		{"a contest whose parent may not be listed, and the reply to its create is lost", contestUnlisted},
		{"a contest whose node may not be made", contestNotMade},
		{"a contest whose node may not be deleted", contestNotDeleted},
	})
}

func readAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.RWMutex(path, observe).RLock
	}
}

// permitAt asks for one permit of a semaphore that has one.
func permitAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		semaphore := client.Semaphore(path, 1, observe)
		return func(ctx context.Context) (*locks.Lease, error) { return semaphore.Acquire(ctx, 1) }
	}
}

func contestAt(path string) patient.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Contest(path, observe).Lock
	}
}

func readWriteLists(t *testing.T, at *place) {
	client := open(t, at.Connect()+"/ns", locks.WithACL(localhost(zk.PermAll)...))
	lease, err := client.RWMutex("/bar").Lock(deadline(t))
	require.NoError(t, err)
	for _, path := range []string{"/ns", "/ns/bar", "/ns/bar/" + lease.Node()} {
		require.Equal(t, localhost(zk.PermAll), at.acl(t, "", path), path)
	}
	unlock(t, lease)
	lease, err = client.RWMutex("/bar").RLock(deadline(t))
	require.NoError(t, err)
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/ns/bar/"+lease.Node()))
	unlock(t, lease)
}

func readWriteUnreadable(t *testing.T, at *place) {
	at.make(t, "", everyone, "/lock")
	a := mine(t, at.Connect())
	first, err := a.RWMutex("/lock").Lock(deadline(t))
	require.NoError(t, err)
	b, reader := waitBehind(t, at, first.Node(), readAt("/lock"),
		credential(bob), locks.WithACL(onlyMe...), locks.WithSessionTimeout(often))
	relists.Right(t, b.Session(), 1)
	unlock(t, first)
	require.Greater(t, reader.Granted(t).Token(), first.Token())
	second, err := a.RWMutex("/lock").TryRLock(deadline(t))
	require.NoError(t, err, "readers hold together, whosever they are")
	unlock(t, second)
}

func downgraded(t *testing.T, at *place) {
	writer, err := mine(t, at.Connect()).RWMutex("/lock").Lock(deadline(t))
	require.NoError(t, err)
	reader, err := writer.Downgrade(deadline(t))
	require.NoError(t, err)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/lock/"+reader.Node()))
	require.Equal(t, []string{reader.Node()}, at.children(t, alice, "/lock"))
	unlock(t, reader)
}

func watchAll(t *testing.T, at *place) {
	at.make(t, "", everyone, "/lock")
	first := lock(t, mine(t, at.Connect()), "/lock")
	b := open(t, at.Connect(), credential(bob), locks.WithSessionTimeout(seldom))
	second := wait(t, b, func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Mutex("/lock", observe, locks.WithWatchAll()).Lock
	})
	unlock(t, first)
	unlock(t, second.Granted(t))
}

// take takes a permit of a semaphore of two.
func take(t *testing.T, client *locks.Client, path string) (*locks.Lease, error) {
	t.Helper()
	return client.Semaphore(path, 2).Acquire(deadline(t), 1)
}

func semaphoreRecorded(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead | zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/permits")
	his, err := take(t, open(t, at.Connect(), credential(bob)), "/permits")
	require.NoError(t, err)
	hers, err := take(t, open(t, at.Connect(), credential(alice)), "/permits")
	require.NoError(t, err)
	unlock(t, his)
	unlock(t, hers)
	at.requireCount(t, 0, "/permits")
}

func semaphoreUnrecorded(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead | zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/permits")
	client := open(t, at.Connect(), credential(alice))
	_, err := take(t, client, "/permits")
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/permits")
	at.requireCount(t, 0, "/permits")
	use(t, client, "/elsewhere")
}

func semaphoreUnreadable(t *testing.T, at *place) {
	at.make(t, "", everyone, "/permits")
	first, err := mine(t, at.Connect()).Semaphore("/permits", 1).Acquire(deadline(t), 1)
	require.NoError(t, err)
	b, second := waitBehind(t, at, first.Node(), permitAt("/permits"), credential(bob), locks.WithSessionTimeout(often))
	relists.Right(t, b.Session(), 1)
	unlock(t, first)
	require.Greater(t, second.Granted(t).Token(), first.Token())
}

func contestLists(t *testing.T, at *place) {
	client := open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe...), locks.WithParentACL(may(alice, zk.PermAll), all(zk.PermRead)))
	lease, err := client.Contest("/contests/one").Lock(deadline(t))
	require.NoError(t, err)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}, at.acl(t, alice, "/contests"))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/contests/one"))
	unlock(t, lease)
	at.requireCount(t, 0, "/contests")
}

func contestUnreadable(t *testing.T, at *place) {
	at.make(t, "", everyone, "/contests")
	first, err := mine(t, at.Connect()).Contest("/contests/one").Lock(deadline(t))
	require.NoError(t, err)
	_, err = open(t, at.Connect(), credential(bob)).Contest("/contests/one").TryLock(deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	proxy := at.Proxy(t)
	looked := proxy.Expect(asksAbout("one")) // as its create is refused, before it watches
	looked.Release()
	b, second := waitThrough(t, proxy, at, "one", contestAt("/contests/one"), credential(bob), locks.WithSessionTimeout(often))
	require.True(t, first.Valid())
	relists.Right(t, b.Session(), 1)
	unlock(t, first)
	require.Greater(t, second.Granted(t).Token(), first.Token())
}

// The guard is looked for by its name, so the session needs no list, and does not end.
func contestUnlisted(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/contests")
	proxy := at.Proxy(t)
	client := open(t, proxy.Addr(), locks.WithSessionTimeout(seldom))
	session, other := client.Session().ID(), lock(t, client, "/elsewhere")
	lost := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: rig.DropReply, Path: func(path string) bool { return strings.HasSuffix(path, "/one") }})
	lease, err := client.Contest("/contests/one").Lock(deadline(t))
	require.NoError(t, err)
	patient.Receive(t, lost.Fired())
	require.Equal(t, session, client.Session().ID())
	require.True(t, other.Valid())
	unlock(t, lease)
	at.requireCount(t, 0, "/contests")
	unlock(t, other)
}

func contestNotMade(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/contests")
	client := open(t, at.Connect())
	_, err := client.Contest("/contests/one").Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/contests/one")
	at.requireCount(t, 0, "/contests")
	use(t, client, "/elsewhere")
}

func contestNotDeleted(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead | zk.PermCreate), may(bob, zk.PermAll)}, "/contests")
	client := open(t, at.Connect())
	session := client.Session().ID()
	lease, err := client.Contest("/contests/one").Lock(deadline(t))
	require.NoError(t, err)
	err = lease.Unlock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/contests/one")
	at.awaitCount(t, 0, "/contests")
	use(t, client, "/elsewhere")
	require.NotEqual(t, session, client.Session().ID())
}
