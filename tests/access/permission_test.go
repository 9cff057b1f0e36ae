package access

import (
	"cmp"
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// For each permission that the session's user lacks on the lock path, or that is taken away between two locks, how a lock
// there behaves: "Permissions" of locks/LIMITS.md.
func TestPermissionsOnTheLockPath(t *testing.T) {
	told := []story{
		{"without DELETE one that gives up ends the session", givesUp},
		{"DELETE is taken away from a holder", deleteTakenAway},
		{"READ of the lock path is taken away from a waiter", listTakenAway},
	}
	for name, c := range map[string]permissions{
		"READ, CREATE, DELETE and WRITE are all that is needed": {perms: zk.PermAll &^ zk.PermAdmin, grants: true},
		"without WRITE it works":                                {perms: zk.PermRead | zk.PermCreate | zk.PermDelete, grants: true},
		"without CREATE it is refused":                          {perms: zk.PermAll &^ zk.PermCreate},
		"without READ it is refused":                            {perms: zk.PermAll &^ zk.PermRead},
		"without CREATE and DELETE it is refused":               {perms: zk.PermRead | zk.PermWrite},
		"with ADMIN only it is refused":                         {perms: zk.PermAdmin},
		"without DELETE the release ends the session":           {perms: zk.PermAll &^ zk.PermDelete, grants: true, ends: true},
		"without DELETE and WRITE the release ends the session": {perms: zk.PermRead | zk.PermCreate, grants: true, ends: true},
		"with CREATE only it is refused and the session ends":   {perms: zk.PermCreate, ends: true},
		"WRITE is taken away":                                   {perms: zk.PermAll &^ zk.PermWrite, taken: true, grants: true},
		"CREATE is taken away":                                  {perms: zk.PermAll &^ zk.PermCreate, taken: true},

		"a contest's node may not be made":             {kind: "a contest", perms: zk.PermRead},
		"a contest's node may not be deleted":          {kind: "a contest", perms: zk.PermRead | zk.PermCreate, grants: true, ends: true},
		"a semaphore's number may not be written":      {kind: "a semaphore", perms: zk.PermRead | zk.PermCreate | zk.PermDelete},
		"its own node may neither be read nor deleted": {perms: zk.PermAll &^ zk.PermDelete, own: zk.WorldACL(zk.PermCreate | zk.PermDelete), ends: true},
	} {
		told = append(told, story{name, c.tell})
	}
	// A session that may not read its own nodes could not find out what has become of one when a reply is lost. Each kind of
	// lock is refused at the start, and leaves no node.
	const withoutRead = zk.PermWrite | zk.PermCreate | zk.PermDelete
	for kind := range lockers {
		told = append(told,
			story{kind + ": its own node may be written", permissions{kind: kind, perms: zk.PermAll, own: zk.WorldACL(withoutRead)}.tell},
			story{kind + ": nor written", permissions{kind: kind, perms: zk.PermAll, own: zk.WorldACL(zk.PermCreate | zk.PermDelete)}.tell},
			story{kind + ": only others may read its own node", permissions{kind: kind, perms: zk.PermAll,
				own: []zk.ACL{may(bob, zk.PermRead), all(withoutRead)}}.tell})
	}
	tell(t, told)
}

// permissions are what everybody may do on /lock, where bob may do all.
type permissions struct {
	kind   string   // of lockers; a mutex where it has none
	own    []zk.ACL // of the nodes that the client makes
	perms  int32
	taken  bool // all was allowed before, and the client has locked there
	grants bool // the lock is granted, and refused otherwise
	// Nothing but the end of the session removes the node: other locks of the session are lost, and told, and the client goes
	// on with the next session.
	ends bool
}

func (c permissions) tell(t *testing.T, at *place) {
	opts := []locks.Option{locks.WithSessionTimeout(seldom)}
	if c.own != nil {
		opts = append(opts, locks.WithACL(c.own...))
	}
	client, next := scene.Open(t, at.Connect(), opts...), scene.Open(t, at.Connect())
	locker := lockers[cmp.Or(c.kind, "a mutex")]
	if c.taken {
		at.makeLock(t, zk.PermAll)
		use(t, client, "/lock")
		at.setACL(t, bob, "/lock", all(c.perms), may(bob, zk.PermAll))
	} else {
		at.makeLock(t, c.perms)
	}
	session, ctx := client.Session().ID(), scene.Deadline(t)
	var other *locks.Lease
	if c.own == nil {
		other = scene.LockAt(t, client, "/other")
	}
	requireNoAuth := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/lock")
		if c.own != nil && !c.ends {
			require.ErrorContains(t, err, "its own session may not read it")
		}
		require.NoError(t, ctx.Err())
	}
	switch {
	case c.grants && c.ends:
		requireNoAuth(scene.Locked(t, locker(client).Lock).Unlock(ctx))
	case c.grants:
		first := scene.LockAt(t, client, "/lock")
		second := scene.Queue(t, next, "/lock")
		_, err := client.Mutex("/lock").TryLock(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		scene.GiveBack(t, first)
		lease := second.Granted(t)
		require.Greater(t, lease.Token(), first.Token())
		scene.GiveBack(t, lease)
	default:
		_, err := locker(client).Lock(ctx)
		requireNoAuth(err)
		if !c.ends {
			_, err = locks.Try(locker(client)).Lock(ctx)
			requireNoAuth(err)
		}
	}
	switch {
	case c.ends && other != nil:
		scene.AwaitLost(t, other)
		at.awaitCount(t, 0, "/other")
	case other != nil:
		scene.GiveBack(t, other)
	}
	at.awaitCount(t, 0, "/lock")
	if other != nil {
		use(t, client, "/other")
	}
	require.Equal(t, c.ends, session != client.Session().ID())
	if c.taken {
		at.setACL(t, bob, "/lock", everyone...)
		use(t, client, "/lock")
	}
}

func givesUp(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll&^zk.PermDelete)
	holder := scene.LockAt(t, scene.Open(t, at.Connect(), credential(bob)), "/lock")
	client := scene.Open(t, at.Connect())
	_, err := client.Mutex("/lock").TryLock(scene.Deadline(t))
	require.Error(t, err)
	at.awaitCount(t, 1, "/lock")
	require.True(t, holder.Valid())
	scene.GiveBack(t, holder)
	use(t, client, "/elsewhere")
}

func deleteTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	client := scene.Open(t, at.Connect())
	lease := scene.LockAt(t, client, "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermDelete), may(bob, zk.PermAll))
	require.True(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), zkconn.ErrNoAuth)
	at.awaitCount(t, 0, "/lock")
	use(t, client, "/elsewhere")
}

// The third of a queue has to list it again when the second gives up, and is told that it may not. The others go on.
func listTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	first := scene.LockAt(t, scene.Open(t, at.Connect(), credential(bob)), "/lock")
	ctx, giveUp := context.WithCancel(scene.Deadline(t))
	gone := scene.Elsewhere(ctx, scene.Open(t, at.Connect(), credential(bob)).Mutex("/lock").Lock)
	at.awaitCount(t, 2, "/lock")
	third := scene.Queue(t, scene.Open(t, at.Connect()), "/lock")
	fourth := scene.Queue(t, scene.Open(t, at.Connect(), credential(bob)), "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermRead), may(bob, zk.PermAll))
	giveUp()
	require.ErrorIs(t, scene.Receive(t, gone).Err, context.Canceled)
	<-third.Done
	require.ErrorIs(t, third.Err, zkconn.ErrNoAuth)
	require.ErrorContains(t, third.Err, "/lock")
	scene.GiveBack(t, first)
	scene.GiveBack(t, fourth.Granted(t))
	at.requireCount(t, 0, "/lock")
}
