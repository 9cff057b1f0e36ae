package access

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The lists of the nodes that Turnstile makes.
func TestACLOfWhatIsMade(t *testing.T) {
	tell(t, []story{
		{"nothing asked for", nothingAskedFor},
		{"one list for all that is made", oneListForAll},
		{"one for contenders and one for parents", twoLists},
		{"one for each path", listByPath},
		{"parents that are there keep theirs", parentsKeepTheirs},
		{"a parent that is made again has it again", madeAgain},
		{"a list that the server finds invalid", invalidList},
		{"a list that shuts out who made it", shutsItselfOut},
	})
}

// localhost is the list of Curator's TestLockACLs: the server knows where a client comes from.
func localhost(perms int32) []zk.ACL { return []zk.ACL{{Perms: perms, Scheme: "ip", ID: "127.0.0.1"}} }

// requireACLs compares the lists of a lock path, of those above it up to the chroot, and of the contender.
func requireACLs(t *testing.T, at *place, lease *locks.Lease, parents, contender []zk.ACL) {
	t.Helper()
	for path := lease.Path(); path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		require.Equal(t, parents, at.acl(t, alice, path), path)
	}
	require.Equal(t, contender, at.acl(t, alice, lease.Path()+"/"+lease.Node()))
}

func nothingAskedFor(t *testing.T, at *place) {
	lease := lock(t, open(t, at.Connect()), "/a/b")
	requireACLs(t, at, lease, everyone, everyone)
	unlock(t, lease)
}

func oneListForAll(t *testing.T, at *place) {
	lease := lock(t, open(t, at.Connect(), locks.WithACL(localhost(zk.PermAll)...)), "/a/b/c")
	requireACLs(t, at, lease, localhost(zk.PermAll), localhost(zk.PermAll))
	unlock(t, lease)
}

func twoLists(t *testing.T, at *place) {
	client := open(t, at.Connect(), credential(alice),
		locks.WithACL(onlyMe[0], all(zk.PermRead)), locks.WithParentACL(may(alice, zk.PermAll), may(bob, zk.PermRead)))
	lease := lock(t, client, "/a/b/c")
	requireACLs(t, at, lease, []zk.ACL{may(alice, zk.PermAll), may(bob, zk.PermRead)},
		[]zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)})
	// Bob may look at the queue and not join it; carol may not even look.
	require.Equal(t, []string{lease.Node()}, at.children(t, bob, "/a/b/c"))
	_, err := open(t, at.Connect(), credential(bob)).Mutex("/a/b/c").Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	_, _, err = at.as(t, "carol").Children(at.Root() + "/a/b/c")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	unlock(t, lease)
	at.requireCount(t, 0, "/a/b/c")
}

func listByPath(t *testing.T, at *place) {
	client := open(t, at.Connect(), locks.WithACL(localhost(zk.PermAll)...),
		locks.WithParentACLFunc(func(path string) []zk.ACL {
			if path == at.Root()+"/parent" {
				return localhost(zk.PermCreate | zk.PermRead)
			}
			return nil
		}))
	lease := lock(t, client, "/parent/foo")
	require.Equal(t, localhost(zk.PermCreate|zk.PermRead), at.acl(t, "", "/parent"))
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/parent/foo"))
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/parent/foo/"+lease.Node()))
	unlock(t, lease)
	// The path below /parent that may not be deleted is no lock path of ours, and another one there is
	// made as ever.
	use(t, client, "/parent/bar")
}

func parentsKeepTheirs(t *testing.T, at *place) {
	theirs := []zk.ACL{all(zk.PermAll), may(bob, zk.PermAdmin)}
	at.make(t, bob, theirs, "/there", "/there/lock")
	client := open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe...))
	use(t, client, "/there/lock")
	lease := lock(t, client, "/there/new") // while it is held, the server does not delete the lock path
	require.Equal(t, theirs, at.acl(t, bob, "/there"))
	require.Equal(t, theirs, at.acl(t, bob, "/there/lock"))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/there/new"))
	unlock(t, lease)
}

func madeAgain(t *testing.T, at *place) {
	client := open(t, at.Connect(), credential(alice), locks.WithParentACL(onlyMe...))
	use(t, client, "/a/b")
	conn := at.as(t, alice)
	require.NoError(t, conn.Delete(at.Root()+"/a/b", -1))
	require.NoError(t, conn.Delete(at.Root()+"/a", -1))
	lease := lock(t, client, "/a/b")
	requireACLs(t, at, lease, []zk.ACL{may(alice, zk.PermAll)}, everyone)
	unlock(t, lease)
}

func invalidList(t *testing.T, at *place) {
	for name, opt := range map[string]locks.Option{
		"of contenders": locks.WithACL(zk.ACL{Perms: zk.PermAll, Scheme: "nosuch", ID: "me"}),
		"of parents":    locks.WithParentACL(zk.ACL{Perms: zk.PermAll, Scheme: "nosuch", ID: "me"}),
		"by path":       locks.WithParentACLFunc(func(string) []zk.ACL { return []zk.ACL{{Perms: zk.PermAll, Scheme: "auth"}} }),
	} {
		client := open(t, at.Connect(), opt)
		_, err := client.Mutex("/invalid").Lock(deadline(t))
		require.ErrorIs(t, err, locks.ErrFailed, name)
		require.ErrorContains(t, err, "/invalid", name)
		require.ErrorContains(t, err, "invalid ACL", name)
		at.requireCount(t, 0, "/invalid")
		if exists, _, _ := at.as(t, "").Exists(at.Root() + "/invalid"); exists { // made before the contender was refused
			require.NoError(t, at.as(t, "").Delete(at.Root()+"/invalid", -1))
		}
	}
}

func shutsItselfOut(t *testing.T, at *place) {
	client := open(t, at.Connect(), credential(alice), locks.WithParentACL(may(bob, zk.PermAll), all(zk.PermRead)))
	for path, named := range map[string]string{"/a/b": "no CREATE at /a:", "/c": "/c"} {
		_, err := client.Mutex(path).Lock(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, named)
	}
	at.requireCount(t, 0, "/c")
	use(t, open(t, at.Connect(), credential(bob)), "/c")
}

// Lock paths below nodes that are not ours.
func TestStricterAncestors(t *testing.T) {
	tell(t, []story{
		{"a lock path below one that nothing may be made in", belowReadOnly},
		{"a lock path below one that may not even be read", belowUnreadable},
		{"one that would have to be made in it", nothingMayBeMade},
		{"once it is allowed the same client goes on", allowedLater},
	})
}

func belowReadOnly(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/theirs")
	at.make(t, bob, everyone, "/theirs/open")
	client := open(t, at.Connect(), credential(alice))
	use(t, client, "/theirs/open")
	use(t, client, "/theirs/open/deep/below")
}

func belowUnreadable(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{may(bob, zk.PermAll)}, "/theirs")
	at.make(t, bob, everyone, "/theirs/open")
	client := open(t, at.Connect(), credential(alice))
	use(t, client, "/theirs/open")
	use(t, client, "/theirs/open/deep/below")
}

func nothingMayBeMade(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/theirs")
	client := open(t, at.Connect(), credential(alice))
	for _, path := range []string{"/theirs/new", "/theirs/new/deep"} {
		_, err := client.Mutex(path).Lock(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "no CREATE at /theirs:", "the node that forbids it is named")
	}
	at.requireCount(t, 0, "/theirs")
}

func allowedLater(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/theirs", "/theirs/lock")
	client := open(t, at.Connect(), credential(alice))
	for _, path := range []string{"/theirs/lock", "/theirs/new"} {
		_, err := client.Mutex(path).Lock(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
	}
	at.setACL(t, bob, "/theirs", everyone)
	at.setACL(t, bob, "/theirs/lock", everyone)
	use(t, client, "/theirs/lock")
	use(t, client, "/theirs/new")
}
