package access

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	contenders "github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// A session that locks a path over and over, alone, does not list it: it watches it.
func TestSteadyLockPath(t *testing.T) {
	tell(t, []story{
		{"one that is made again while it is watched", steadyMadeAgain},
		{"one that is made again after READ was taken away", steadyReadTakenAway},
	})
}

func steadyMadeAgain(t *testing.T, at *place) {
	at.make(t, "", everyone, "/lock")
	a := scene.Open(t, at.Connect(), credential(alice))
	requireOrder(t, at, a, steady(t, a))
}

// steadyReadTakenAway: the servers send no event then (CVE-2024-23944). The session finds out within its timeout, and not at
// once: see LIMITS.
func steadyReadTakenAway(t *testing.T, at *place) {
	at.make(t, "", everyone, "/lock")
	a := scene.Open(t, at.Connect(), credential(alice), locks.WithSessionTimeout(often))
	steady(t, a)
	at.setACL(t, "", "/lock", may(bob, zk.PermAll), all(zk.PermCreate|zk.PermDelete))
	var last int32
	for ctx := scene.Deadline(t); ; {
		lease, err := a.Mutex("/lock").TryLock(ctx)
		if err != nil {
			require.ErrorIs(t, err, zkconn.ErrNoAuth)
			break
		}
		last = number(t, lease)
		scene.GiveBack(t, lease)
		time.Sleep(pause)
	}
	requireOrder(t, at, a, last)
}

// pause lets fewer numbers be used until the watch is old.
const pause = 20 * time.Millisecond

// steady has a client lock the path so often that it does not list it any more, and gives the last number.
func steady(t *testing.T, client *locks.Client) (last int32) {
	t.Helper()
	for range 20 {
		last = number(t, use(t, client, "/lock"))
	}
	return last
}

// requireOrder makes the lock path again, brings its numbers up to the last that the client has
// had, and checks that the client sees the holder.
func requireOrder(t *testing.T, at *place, client *locks.Client, last int32) {
	t.Helper()
	conn := at.as(t, bob)
	require.NoError(t, conn.Delete(at.Root()+"/lock", -1))
	at.make(t, bob, everyone, "/lock")
	for range last {
		path, err := conn.Create(at.Root()+"/lock/stranger-", nil, zk.FlagSequence, everyone)
		require.NoError(t, err)
		require.NoError(t, conn.Delete(path, -1))
	}
	held := scene.LockAt(t, scene.Open(t, at.Connect()), "/lock")
	require.Equal(t, last, number(t, held))
	_, err := client.Mutex("/lock").TryLock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.True(t, held.Valid())
	scene.GiveBack(t, held)
	use(t, client, "/lock")
}

// number gives the sequence number of a node.
func number(t *testing.T, lease *locks.Lease) int32 {
	t.Helper()
	number, ok := contenders.Sequence(lease.Node())
	require.True(t, ok)
	return number
}
