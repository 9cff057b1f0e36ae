package access

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The path behind the servers, to which every other is relative.
func TestChroot(t *testing.T) {
	tell(t, []story{
		{"two with different ones do not meet", doNotMeet},
		{"two with the same one meet, and one inside another's is the other's longer path", meet},
		{"one that does not exist is made", chrootIsMade},
		{"one that vanishes is made again", chrootVanishes},
		{"one that may not be made", chrootMayNotBeMade},
		{"paths are told as they were written", pathsAsWritten},
	})
}

// doNotMeet: neither by their names, of which two begin alike, nor by the nodes.
func doNotMeet(t *testing.T, at *place) {
	var leases []*locks.Lease
	for chroot, path := range map[string]string{"/app": "/le/lock", "/apple": "/lock", "/two": "/lock", "": "/lock"} {
		lease := scene.LockAt(t, scene.Open(t, at.Connect()+chroot), path)
		require.Equal(t, path, lease.Path())
		require.Equal(t, []string{lease.Node()}, at.children(t, "", chroot+path))
		leases = append(leases, lease)
	}
	scene.GiveBack(t, leases...)
}

func meet(t *testing.T, at *place) {
	first := scene.LockAt(t, scene.Open(t, at.Connect()), "/app/deep/lock")
	other := scene.Open(t, at.Connect()+"/app/deep")
	_, err := other.Mutex("/lock").TryLock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	second := scene.Queue(t, other, "/lock")
	third := scene.Queue(t, scene.Open(t, at.Connect()+"/app/deep"), "/lock")
	require.Len(t, at.children(t, "", "/app/deep/lock"), 3)
	scene.GiveBack(t, first)
	lease := second.Granted(t)
	require.Equal(t, "/lock", lease.Path())
	require.Greater(t, lease.Token(), first.Token())
	scene.GiveBack(t, lease)
	scene.GiveBack(t, third.Granted(t))
}

func chrootIsMade(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect()+"/not/yet/there", credential(alice),
		locks.WithACL(onlyMe[0], all(zk.PermRead)), locks.WithParentACL(onlyMe...))
	exists, _, err := at.as(t, "").Exists(at.Root() + "/not")
	require.NoError(t, err)
	require.False(t, exists, "nobody has asked for a lock")
	use(t, client, "/lock")
	for _, path := range []string{"/not", "/not/yet", "/not/yet/there", "/not/yet/there/lock"} {
		require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, path), path)
	}
}

func chrootVanishes(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect()+"/app")
	first := use(t, client, "/lock")
	conn := at.as(t, "")
	require.NoError(t, conn.Delete(at.Root()+"/app/lock", -1))
	require.NoError(t, conn.Delete(at.Root()+"/app", -1))
	require.Greater(t, use(t, client, "/lock").Token(), first.Token())
}

func chrootMayNotBeMade(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/theirs")
	for chroot, named := range map[string]string{
		"/theirs/app":      at.Root() + "/theirs, which is above the chroot",
		"/theirs/app/deep": at.Root() + "/theirs, which is above the chroot",
		"/theirs":          "the chroot, " + at.Root() + "/theirs",
	} {
		client := scene.Open(t, at.Connect()+chroot)
		_, err := client.Mutex("/lock").Lock(scene.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth, chroot)
		require.ErrorContains(t, err, "no CREATE at "+named, chroot)
		require.ErrorContains(t, err, "lock /lock", chroot)
	}
	at.requireCount(t, 0, "/theirs")
}

// pathsAsWritten looks at all that a user is told: the lease, the notices, the transitions and the errors.
func pathsAsWritten(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect()+"/app")
	mutex, rec := scene.Recorded(t, client, "/a/b")
	lease, err := mutex.Lock(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, "/a/b", lease.Path())
	require.False(t, strings.Contains(lease.Node(), "/"))

	_, err = client.Mutex("/a/b").TryLock(scene.Deadline(t))
	requireWritten(t, at, err, "/a/b")
	ctx := scene.Deadline(t)
	scene.GiveBack(t, lease)
	requireWritten(t, at, lease.Unlock(ctx), "/a/b")
	scene.Await(t, rec, messages.StateReleased)
	for _, notice := range rec.Notices() {
		if held, ok := notice.(*messages.Held); ok {
			require.Equal(t, "/a/b", held.Path)
		}
	}
	for _, tr := range rec.Transitions() {
		require.Equal(t, "/a/b", tr.Path)
	}
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/app/closed")
	_, err = client.Mutex("/app/closed").Lock(scene.Deadline(t)) // below the chroot: another node
	require.NoError(t, err)
	_, err = client.Mutex("/closed").Lock(scene.Deadline(t))
	requireWritten(t, at, err, "/closed")
}

func requireWritten(t *testing.T, at *place, err error, path string) {
	t.Helper()
	var e *locks.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, path, e.Path)
	require.ErrorContains(t, err, path)
	require.NotContains(t, err.Error(), at.Root())
}
