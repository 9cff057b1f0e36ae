package access

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
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
	} {
		told = append(told, story{name, c.tell})
	}
	tell(t, told)
}

// permissions are what everybody may do on /lock, where bob may do all.
type permissions struct {
	perms  int32
	taken  bool // all was allowed before, and the client has locked there
	grants bool // the lock is granted, and refused otherwise
	// Nothing but the end of the session removes the node: other locks of the session are lost, and told, and the client goes
	// on with the next session.
	ends bool
}

func (c permissions) tell(t *testing.T, at *place) {
	client, next := patient.Open(t, at.Connect()), patient.Open(t, at.Connect())
	if c.taken {
		at.makeLock(t, zk.PermAll)
		use(t, client, "/lock")
		at.setACL(t, bob, "/lock", all(c.perms), may(bob, zk.PermAll))
	} else {
		at.makeLock(t, c.perms)
	}
	session, other := client.Session().ID(), patient.LockAt(t, client, "/other")
	ctx := patient.Deadline(t)
	requireNoAuth := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/lock")
		require.NoError(t, ctx.Err())
	}
	switch {
	case c.grants && c.ends:
		requireNoAuth(patient.LockAt(t, client, "/lock").Unlock(ctx))
	case c.grants:
		first := patient.LockAt(t, client, "/lock")
		second := patient.Queue(t, next, "/lock")
		_, err := client.Mutex("/lock").TryLock(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		patient.GiveBack(t, first)
		lease := second.Granted(t)
		require.Greater(t, lease.Token(), first.Token())
		patient.GiveBack(t, lease)
	default:
		_, err := client.Mutex("/lock").Lock(ctx)
		requireNoAuth(err)
		if !c.ends {
			_, err = client.Mutex("/lock").TryLock(ctx)
			requireNoAuth(err)
		}
	}
	if c.ends {
		patient.AwaitLost(t, other)
		at.awaitCount(t, 0, "/other")
	} else {
		patient.GiveBack(t, other)
	}
	at.awaitCount(t, 0, "/lock")
	use(t, client, "/other")
	require.Equal(t, c.ends, session != client.Session().ID())
	if c.taken {
		at.setACL(t, bob, "/lock", everyone...)
		use(t, client, "/lock")
	}
}

func givesUp(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll&^zk.PermDelete)
	holder := patient.LockAt(t, patient.Open(t, at.Connect(), credential(bob)), "/lock")
	client := patient.Open(t, at.Connect())
	_, err := client.Mutex("/lock").TryLock(patient.Deadline(t))
	require.Error(t, err)
	at.awaitCount(t, 1, "/lock")
	require.True(t, holder.Valid())
	patient.GiveBack(t, holder)
	use(t, client, "/elsewhere")
}

func deleteTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	client := patient.Open(t, at.Connect())
	lease := patient.LockAt(t, client, "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermDelete), may(bob, zk.PermAll))
	require.True(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), zkconn.ErrNoAuth)
	at.awaitCount(t, 0, "/lock")
	use(t, client, "/elsewhere")
}

// The third of a queue has to list it again when the second gives up, and is told that it may not. The others go on.
func listTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	first := patient.LockAt(t, patient.Open(t, at.Connect(), credential(bob)), "/lock")
	ctx, giveUp := context.WithCancel(patient.Deadline(t))
	gone := patient.Elsewhere(ctx, patient.Open(t, at.Connect(), credential(bob)).Mutex("/lock").Lock)
	at.awaitCount(t, 2, "/lock")
	third := patient.Queue(t, patient.Open(t, at.Connect()), "/lock")
	fourth := patient.Queue(t, patient.Open(t, at.Connect(), credential(bob)), "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermRead), may(bob, zk.PermAll))
	giveUp()
	require.ErrorIs(t, patient.Receive(t, gone).Err, context.Canceled)
	<-third.Done
	require.ErrorIs(t, third.Err, zkconn.ErrNoAuth)
	require.ErrorContains(t, third.Err, "/lock")
	patient.GiveBack(t, first)
	patient.GiveBack(t, fourth.Granted(t))
	at.requireCount(t, 0, "/lock")
}
