package access

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The lists of the nodes that Turnstile makes.
func TestACLOfWhatIsMade(t *testing.T) {
	tell(t, []story{
		{"nothing asked for", func(t *testing.T, at *place) { requireACLs(t, at, "/a/b", everyone, everyone) }},
		{"one list for all that is made", func(t *testing.T, at *place) {
			requireACLs(t, at, "/a/b/c", localhost(zk.PermAll), localhost(zk.PermAll), locks.WithACL(localhost(zk.PermAll)...))
		}},
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

// requireACLs compares the lists of a lock path that a client locks, of those above it up to the chroot, and of the
// contender, and gives that.
func requireACLs(t *testing.T, at *place, path string, parents, contender []zk.ACL, opts ...locks.Option) *locks.Lease {
	t.Helper()
	lease := scene.LockAt(t, scene.Open(t, at.Connect(), opts...), path)
	for above := path; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
		require.Equal(t, parents, at.acl(t, alice, above), above)
	}
	require.Equal(t, contender, at.acl(t, alice, path+"/"+lease.Node()))
	return lease
}

func twoLists(t *testing.T, at *place) {
	lease := requireACLs(t, at, "/a/b/c", []zk.ACL{may(alice, zk.PermAll), may(bob, zk.PermRead)},
		[]zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}, credential(alice),
		locks.WithACL(onlyMe[0], all(zk.PermRead)), locks.WithParentACL(may(alice, zk.PermAll), may(bob, zk.PermRead)))
	// Bob may look at the queue and not join it; carol may not even look.
	require.Equal(t, []string{lease.Node()}, at.children(t, bob, "/a/b/c"))
	_, err := scene.Open(t, at.Connect(), credential(bob)).Mutex("/a/b/c").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	_, _, err = at.as(t, "carol").Children(at.Root() + "/a/b/c")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	scene.GiveBack(t, lease)
	at.requireCount(t, 0, "/a/b/c")
}

func listByPath(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect(), locks.WithACL(localhost(zk.PermAll)...),
		locks.WithParentACLFunc(func(path string) []zk.ACL {
			if path == at.Root()+"/parent" {
				return localhost(zk.PermCreate | zk.PermRead)
			}
			return nil
		}))
	lease := scene.LockAt(t, client, "/parent/foo")
	require.Equal(t, localhost(zk.PermCreate|zk.PermRead), at.acl(t, "", "/parent"))
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/parent/foo"))
	require.Equal(t, localhost(zk.PermAll), at.acl(t, "", "/parent/foo/"+lease.Node()))
	scene.GiveBack(t, lease)
	// The path below /parent that may not be deleted is no lock path of ours, and another one there is
	// made as ever.
	use(t, client, "/parent/bar")
}

func parentsKeepTheirs(t *testing.T, at *place) {
	theirs := []zk.ACL{all(zk.PermAll), may(bob, zk.PermAdmin)}
	at.make(t, bob, theirs, "/there", "/there/lock")
	client := scene.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe...))
	use(t, client, "/there/lock")
	lease := scene.LockAt(t, client, "/there/new") // while it is held, the server does not delete the lock path
	require.Equal(t, theirs, at.acl(t, bob, "/there"))
	require.Equal(t, theirs, at.acl(t, bob, "/there/lock"))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/there/new"))
	scene.GiveBack(t, lease)
}

func madeAgain(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect(), credential(alice), locks.WithParentACL(onlyMe...))
	conn := at.as(t, alice)
	for range 2 {
		scene.GiveBack(t, scene.LockAt(t, client, "/a/b"))
		for _, path := range []string{"/a/b", "/a"} {
			require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, path))
			require.NoError(t, conn.Delete(at.Root()+path, -1))
		}
	}
}

func invalidList(t *testing.T, at *place) {
	for name, opt := range map[string]locks.Option{
		"of contenders": locks.WithACL(zk.ACL{Perms: zk.PermAll, Scheme: "nosuch", ID: "me"}),
		"of parents":    locks.WithParentACL(zk.ACL{Perms: zk.PermAll, Scheme: "nosuch", ID: "me"}),
		"by path":       locks.WithParentACLFunc(func(string) []zk.ACL { return []zk.ACL{{Perms: zk.PermAll, Scheme: "auth"}} }),
	} {
		client := scene.Open(t, at.Connect(), opt)
		_, err := client.Mutex("/invalid").Lock(scene.Deadline(t))
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
	client := scene.Open(t, at.Connect(), credential(alice), locks.WithParentACL(may(bob, zk.PermAll), all(zk.PermRead)))
	for path, named := range map[string]string{"/a/b": "no CREATE at /a:", "/c": "/c"} {
		_, err := client.Mutex(path).Lock(scene.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, named)
	}
	at.requireCount(t, 0, "/c")
	use(t, scene.Open(t, at.Connect(), credential(bob)), "/c")
}

// Lock paths below nodes that are not ours.
func TestStricterAncestors(t *testing.T) {
	tell(t, []story{
		{"a lock path below one that nothing may be made in", func(t *testing.T, at *place) { below(t, at, all(zk.PermRead), may(bob, zk.PermAll)) }},
		{"a lock path below one that may not even be read", func(t *testing.T, at *place) { below(t, at, may(bob, zk.PermAll)) }},
		{"one that would have to be made in it, which is allowed later", nothingMayBeMade},
	})
}

// below locks below a node of bob's. The second path is the chroot of another client.
func below(t *testing.T, at *place, theirs ...zk.ACL) {
	at.make(t, bob, theirs, "/theirs")
	at.make(t, bob, everyone, "/theirs/open")
	client := scene.Open(t, at.Connect(), credential(alice))
	use(t, client, "/theirs/open")
	use(t, client, "/theirs/open/deep/below")
	use(t, scene.Open(t, at.Connect()+"/theirs/open", credential(alice)), "/lock")
}

func nothingMayBeMade(t *testing.T, at *place) {
	at.make(t, bob, []zk.ACL{all(zk.PermRead), may(bob, zk.PermAll)}, "/theirs")
	client := scene.Open(t, at.Connect(), credential(alice))
	for _, path := range []string{"/theirs/new", "/theirs/new/deep"} {
		_, err := client.Mutex(path).Lock(scene.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "no CREATE at /theirs:", "the node that forbids it is named")
	}
	at.requireCount(t, 0, "/theirs")
	at.setACL(t, bob, "/theirs", everyone...)
	use(t, client, "/theirs/new")
}
