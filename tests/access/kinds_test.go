package access

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Every other kind of lock among several users.
func TestKindsOfLocksOfSeveralUsers(t *testing.T) {
	tell(t, []story{
		{"a writer becomes a reader with the list asked for", downgraded},
		{"watching the whole lock path needs no right to read contenders", watchAll},
		{"a semaphore whose number is there needs no WRITE", semaphoreNumber},
		{"a contest has the lists asked for", contestLists},
		{"a contest whose parent may not be listed, and the reply to its create is lost", contestUnlisted},
	})
}

// lockers are the kinds of locks at /lock. The semaphore has one permit.
var lockers = map[string]func(client *locks.Client, opts ...locks.LockOption) locks.Locker{
	"a mutex":  func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.Mutex("/lock", opts...) },
	"a writer": func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.RWMutex("/lock", opts...) },
	"a reader": func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
		return c.RWMutex("/lock", opts...).Reader()
	},
	"a semaphore": func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
		return c.Semaphore("/lock", 1, opts...).Weight(1)
	},
	"a contest": func(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.Contest("/lock/one", opts...) },
}

// asks asks for one of lockers.
func asks(kind string, opts ...locks.LockOption) scene.Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return lockers[kind](client, append(opts, observe)...).Lock
	}
}

func downgraded(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe[0], all(zk.PermRead)))
	writer, err := client.RWMutex("/lock").Lock(scene.Deadline(t))
	require.NoError(t, err)
	own := []zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}
	require.Equal(t, own, at.acl(t, alice, "/lock/"+writer.Node()))
	reader, err := writer.Downgrade(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, own, at.acl(t, alice, "/lock/"+reader.Node()))
	require.Equal(t, []string{reader.Node()}, at.children(t, alice, "/lock"))
	scene.GiveBack(t, reader)
}

func watchAll(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	first := scene.LockAt(t, at.mine(t, at.Connect()), "/lock")
	b := scene.Open(t, at.Connect(), credential(bob), locks.WithSessionTimeout(seldom))
	second := scene.Wait(t, b, asks("a mutex", locks.WithWatchAll()))
	scene.GiveBack(t, first)
	scene.GiveBack(t, second.Granted(t))
}

func semaphoreNumber(t *testing.T, at *place) {
	at.makeLock(t, zk.PermRead|zk.PermCreate|zk.PermDelete)
	his := scene.Locked(t, scene.Open(t, at.Connect(), credential(bob)).Semaphore("/lock", 2).Weight(1).Lock)
	hers := scene.Locked(t, scene.Open(t, at.Connect(), credential(alice)).Semaphore("/lock", 2).Weight(1).Lock)
	scene.GiveBack(t, his, hers)
	at.requireCount(t, 0, "/lock")
}

func contestLists(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe...), locks.WithParentACL(may(alice, zk.PermAll), all(zk.PermRead)))
	lease, err := client.Contest("/contests/one").Lock(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}, at.acl(t, alice, "/contests"))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/contests/one"))
	scene.GiveBack(t, lease)
	at.requireCount(t, 0, "/contests")
}

// The guard is looked for by its name, so the session needs no list, and does not end.
func contestUnlisted(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermCreate | zk.PermDelete), may(bob, zk.PermAll)}, "/contests")
	proxy := at.Proxy(t)
	client := scene.Open(t, proxy.Addr(), locks.WithSessionTimeout(seldom))
	session, other := client.Session().ID(), scene.LockAt(t, client, "/elsewhere")
	lost := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: rig.DropReply, Path: func(path string) bool { return strings.HasSuffix(path, "/one") }})
	lease, err := client.Contest("/contests/one").Lock(scene.Deadline(t))
	require.NoError(t, err)
	scene.Receive(t, lost.Fired())
	require.Equal(t, session, client.Session().ID())
	require.True(t, other.Valid())
	scene.GiveBack(t, lease)
	at.requireCount(t, 0, "/contests")
	scene.GiveBack(t, other)
}
