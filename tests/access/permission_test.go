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

// For each permission that the session's user lacks on the lock path, how a lock there behaves:
// "Permissions" of locks/LIMITS.md.
func TestPermissionsOnTheLockPath(t *testing.T) {
	tell(t, []story{
		{"READ, CREATE, DELETE and WRITE are all that is needed", with(zk.PermRead|zk.PermCreate|zk.PermDelete|zk.PermWrite, works)},
		{"without WRITE it works", with(zk.PermRead|zk.PermCreate|zk.PermDelete, works)},
		{"without CREATE it is refused", with(zk.PermAll&^zk.PermCreate, refused)},
		{"without READ it is refused", with(zk.PermAll&^zk.PermRead, refused)},
		{"without CREATE and DELETE it is refused", with(zk.PermRead|zk.PermWrite, refused)},
		{"with ADMIN only it is refused", with(zk.PermAdmin, refused)},
		{"without DELETE the release ends the session", with(zk.PermAll&^zk.PermDelete, endsSession)},
		{"without DELETE and WRITE the release ends the session", with(zk.PermRead|zk.PermCreate, endsSession)},
		{"with CREATE only it is refused and the session ends", with(zk.PermCreate, refusedAndEndsSession)},
		{"without DELETE one that gives up ends the session", with(zk.PermAll&^zk.PermDelete, givesUp)},
	})
}

// with gives everybody some permissions on /lock, and bob all.
func with(perms int32, tell func(*testing.T, *place)) func(*testing.T, *place) {
	return func(t *testing.T, at *place) {
		at.makeLock(t, perms)
		tell(t, at)
	}
}

func works(t *testing.T, at *place) {
	one, two := patient.Open(t, at.Connect()), patient.Open(t, at.Connect())
	first := patient.LockAt(t, one, "/lock")
	second := patient.Queue(t, two, "/lock")
	_, err := one.Mutex("/lock").TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	patient.GiveBack(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	patient.GiveBack(t, lease)
	at.requireCount(t, 0, "/lock")
}

// tryBoth asks for the lock in both ways and wants ErrNoAuth, in time.
func tryBoth(t *testing.T, client *locks.Client) {
	t.Helper()
	ctx := patient.Deadline(t)
	for _, try := range []func(context.Context) (*locks.Lease, error){client.Mutex("/lock").Lock, client.Mutex("/lock").TryLock} {
		lease, err := try(ctx)
		require.Nil(t, lease)
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/lock")
	}
	require.NoError(t, ctx.Err())
}

func refused(t *testing.T, at *place) {
	client := patient.Open(t, at.Connect())
	session := client.Session().ID()
	tryBoth(t, client)
	at.requireCount(t, 0, "/lock")
	use(t, client, "/elsewhere")
	require.Equal(t, session, client.Session().ID(), "its session goes on")
}

// Nothing but the end of the session removes the node, so the session ends: other locks of it are lost, and told.
// The client goes on with the next session.
func endsSession(t *testing.T, at *place) {
	client := patient.Open(t, at.Connect())
	session := client.Session().ID()
	other := patient.LockAt(t, client, "/other")
	lease := patient.LockAt(t, client, "/lock")
	err := lease.Unlock(patient.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/lock")
	patient.Receive(t, other.Context().Done())
	require.ErrorIs(t, context.Cause(other.Context()), locks.ErrLost)
	at.awaitCount(t, 0, "/lock")
	at.awaitCount(t, 0, "/other")
	use(t, client, "/other")
	require.NotEqual(t, session, client.Session().ID())
}

func refusedAndEndsSession(t *testing.T, at *place) {
	client := patient.Open(t, at.Connect())
	session := client.Session().ID()
	_, err := client.Mutex("/lock").Lock(patient.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.ErrorContains(t, err, "/lock")
	at.awaitCount(t, 0, "/lock")
	use(t, client, "/elsewhere")
	require.NotEqual(t, session, client.Session().ID())
}

func givesUp(t *testing.T, at *place) {
	holder := patient.LockAt(t, patient.Open(t, at.Connect(), credential(bob)), "/lock")
	client := patient.Open(t, at.Connect())
	_, err := client.Mutex("/lock").TryLock(patient.Deadline(t))
	require.Error(t, err)
	at.awaitCount(t, 1, "/lock")
	require.True(t, holder.Valid())
	patient.GiveBack(t, holder)
	use(t, client, "/elsewhere")
}

// Permissions that somebody takes away while a request is on its way.
func TestPermissionsTakenAway(t *testing.T) {
	tell(t, []story{
		{"DELETE from a holder", deleteTakenAway},
		{"READ of the lock path from a waiter", listTakenAway},
		{"WRITE between two locks", writeTakenAway},
		{"CREATE between two locks", createTakenAway},
	})
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
	defer giveUp()
	giving := patient.Open(t, at.Connect(), credential(bob))
	gone := make(chan error, 1)
	go func() {
		_, err := giving.Mutex("/lock").Lock(ctx)
		gone <- err
	}()
	at.awaitCount(t, 2, "/lock")
	third := patient.Queue(t, patient.Open(t, at.Connect()), "/lock")
	fourth := patient.Queue(t, patient.Open(t, at.Connect(), credential(bob)), "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermRead), may(bob, zk.PermAll))
	giveUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	<-third.Done
	require.ErrorIs(t, third.Err, zkconn.ErrNoAuth)
	require.ErrorContains(t, third.Err, "/lock")
	patient.GiveBack(t, first)
	patient.GiveBack(t, fourth.Granted(t))
	at.requireCount(t, 0, "/lock")
}

func writeTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	client := patient.Open(t, at.Connect())
	first := use(t, client, "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermWrite), may(bob, zk.PermAll))
	second := use(t, client, "/lock")
	require.Greater(t, second.Token(), first.Token())
	require.Greater(t, use(t, client, "/lock").Token(), second.Token())
}

func createTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	client := patient.Open(t, at.Connect())
	use(t, client, "/lock")
	at.setACL(t, bob, "/lock", all(zk.PermAll&^zk.PermCreate), may(bob, zk.PermAll))
	tryBoth(t, client)
	at.requireCount(t, 0, "/lock")
	at.setACL(t, bob, "/lock", everyone...)
	use(t, client, "/lock")
}
