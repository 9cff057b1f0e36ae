package access

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The path behind the servers, to which every other is relative.
func TestChroot(t *testing.T) {
	tell(t, []story{
		{"two with different ones do not meet", doNotMeet},
		{"two whose names begin alike do not meet", beginAlike},
		{"two with the same one meet", sameMeets},
		{"one inside the other's is the other's longer path", insideAnother},
		{"one that does not exist is made", chrootIsMade},
		{"one that vanishes is made again", chrootVanishes},
		{"one that may not be made", chrootMayNotBeMade},
		{"one above which nothing may be read", chrootBelowUnreadable},
		{"one that belongs to somebody else", chrootOfAnother},
		{"paths are told as they were written", pathsAsWritten},
		{"after a cut and after the end of the session", chrootReconnects},
	})
}

func doNotMeet(t *testing.T, at *place) {
	first := lock(t, open(t, at.Connect()+"/one"), "/lock")
	second := lock(t, open(t, at.Connect()+"/two"), "/lock")
	third := lock(t, open(t, at.Connect()), "/lock")
	for _, lease := range []*locks.Lease{first, second, third} {
		require.True(t, lease.Valid())
		require.Equal(t, "/lock", lease.Path())
	}
	require.Equal(t, []string{first.Node()}, at.children(t, "", "/one/lock"))
	require.Equal(t, []string{second.Node()}, at.children(t, "", "/two/lock"))
	require.Equal(t, []string{third.Node()}, at.children(t, "", "/lock"))
	for _, lease := range []*locks.Lease{first, second, third} {
		unlock(t, lease)
	}
}

func beginAlike(t *testing.T, at *place) {
	short, long := open(t, at.Connect()+"/app"), open(t, at.Connect()+"/apple")
	first, second := lock(t, short, "/le/lock"), lock(t, long, "/lock")
	waiting := queue(t, long, "/lock")
	unlock(t, first)
	waiting.Waits(t)
	unlock(t, second)
	unlock(t, waiting.Granted(t))
}

func sameMeets(t *testing.T, at *place) {
	first := lock(t, open(t, at.Connect()+"/app"), "/lock")
	other := open(t, at.Connect()+"/app")
	_, err := other.Mutex("/lock").TryLock(deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	second := queue(t, other, "/lock")
	require.Len(t, at.children(t, "", "/app/lock"), 2)
	unlock(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	unlock(t, lease)
}

func insideAnother(t *testing.T, at *place) {
	first := lock(t, open(t, at.Connect()), "/app/deep/lock")
	second := queue(t, open(t, at.Connect()+"/app/deep"), "/lock")
	unlock(t, first)
	lease := second.Granted(t)
	require.Equal(t, "/lock", lease.Path())
	require.Greater(t, lease.Token(), first.Token())
	unlock(t, lease)
}

func chrootIsMade(t *testing.T, at *place) {
	client := open(t, at.Connect()+"/not/yet/there", credential(alice),
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
	client := open(t, at.Connect()+"/app")
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
		client := open(t, at.Connect()+chroot)
		_, err := client.Mutex("/lock").Lock(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth, chroot)
		require.ErrorContains(t, err, "no CREATE at "+named, chroot)
		require.ErrorContains(t, err, "lock /lock", chroot)
	}
	at.requireCount(t, 0, "/theirs")
}

func chrootBelowUnreadable(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{may(bob, zk.PermAll)}, "/theirs")
	at.make(t, bob, []zk.ACL{may(alice, zk.PermAll), may(bob, zk.PermAll)}, "/theirs/hers")
	use(t, open(t, at.Connect()+"/theirs/hers", credential(alice)), "/lock")
}

func chrootOfAnother(t *testing.T, at *place) {
	holder := lock(t, open(t, at.Connect()+"/app", credential(alice), locks.WithParentACL(onlyMe...)), "/lock")
	client := open(t, at.Connect()+"/app", credential(bob))
	for _, path := range []string{"/lock", "/other"} {
		_, err := client.Mutex(path).Lock(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth, path)
	}
	require.Equal(t, []string{"lock"}, at.children(t, alice, "/app"))
	require.True(t, holder.Valid())
	unlock(t, holder)
}

// pathsAsWritten looks at all that a user is told: the lease, the notices, the transitions and the errors.
func pathsAsWritten(t *testing.T, at *place) {
	client := open(t, at.Connect()+"/app")
	mutex, rec := recorded(t, client, "/a/b")
	lease, err := mutex.Lock(deadline(t))
	require.NoError(t, err)
	require.Equal(t, "/a/b", lease.Path())
	require.False(t, strings.Contains(lease.Node(), "/"))

	_, err = client.Mutex("/a/b").TryLock(deadline(t))
	requireWritten(t, at, err, "/a/b")
	ctx := deadline(t)
	unlock(t, lease)
	requireWritten(t, at, lease.Unlock(ctx), "/a/b")
	await(t, rec, messages.StateReleased)
	for _, notice := range rec.Notices() {
		if held, ok := notice.(*messages.Held); ok {
			require.Equal(t, "/a/b", held.Path)
		}
	}
	for _, tr := range rec.Transitions() {
		require.Equal(t, "/a/b", tr.Path)
	}
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/app/closed")
	_, err = client.Mutex("/app/closed").Lock(deadline(t)) // below the chroot: another node
	require.NoError(t, err)
	_, err = client.Mutex("/closed").Lock(deadline(t))
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

func chrootReconnects(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := open(t, proxy.Addr()+at.Root()+"/app")
	first := lock(t, client, "/lock")
	second := queue(t, client, "/lock")
	proxy.Cut()
	_, err := second.Rec.AwaitNth(deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)

	id, password, ok := proxy.Session()
	require.True(t, ok)
	proxy.Refuse(true) // so that the client cannot come back before the session has ended
	require.NoError(t, rig.ExpireSession(deadline(t), at.Hosts(), id, password))
	proxy.Refuse(false)
	patient.Receive(t, first.Context().Done())
	lease := second.Granted(t)
	require.Equal(t, "/lock", lease.Path())
	require.Equal(t, []string{lease.Node()}, at.children(t, "", "/app/lock"))
	unlock(t, lease)
	require.Empty(t, at.children(t, "", "/app/lock"))
}
