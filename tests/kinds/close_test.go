package kinds

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// everyKind gives a way to acquire each kind of lock, all of a client and at one place, so that any two exclude
// each other.
func everyKind(c *locks.Client, at string, opts ...locks.LockOption) map[string]func(context.Context) (*locks.Lease, error) {
	return map[string]func(context.Context) (*locks.Lease, error){
		"exclusive": c.Mutex(at+"/m", opts...).Lock,
		"write":     c.RWMutex(at+"/rw", opts...).Lock,
		"semaphore": permitsOf(c.Semaphore(at+"/s", 2, opts...), 2),
		"contest":   c.Contest(at+"/c", opts...).Lock,
		"named":     c.Mutex(at+"/n", append(opts, locks.WithName("n"))...).Lock,
	}
}

// TestEveryKindIsFreeWhenItsHolderCloses: a waiter has it at once, and the holder's lease says why
// it ended. After that the client refuses everything with ErrClosed.
func TestEveryKindIsFreeWhenItsHolderCloses(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		holder, next := zk.Open(t), zk.Open(t)
		leases, waiting := map[string]*locks.Lease{}, map[string]<-chan patient.Answer{}
		for kind, lock := range everyKind(holder, "/close") {
			lease, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			leases[kind] = lease
			rec := patient.Recorder(t, next)
			waiting[kind] = patient.Elsewhere(patient.Deadline(t), everyKind(next, "/close", patient.ObservedBy(rec))[kind])
			patient.Await(t, rec, messages.StateWatching)
		}
		require.NoError(t, holder.Close(patient.Deadline(t)))
		for kind, lease := range leases {
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost, kind)
			require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrClosed, kind)
			require.False(t, lease.Valid())
			got := patient.Receive(t, waiting[kind])
			require.NoError(t, got.Err, kind)
			require.Greater(t, got.Lease.Token(), lease.Token())
			patient.GiveBack(t, got.Lease)
			_, err := everyKind(holder, "/close")[kind](patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrClosed, kind)
		}
		_, err := leases["write"].Downgrade(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrLost)
		require.ErrorIs(t, holder.SetPermits(patient.Deadline(t), "/close/s", 3), locks.ErrClosed)
	})
}

// TestEveryKindIsGivenBackOnce: a second Unlock says so, and harms nobody.
func TestEveryKindIsGivenBackOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for kind := range everyKind(client, "/twice") {
			lock := everyKind(client, "/twice")[kind]
			first, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			patient.GiveBack(t, first)
			second, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			for range 2 {
				require.ErrorIs(t, first.Unlock(patient.Deadline(t)), locks.ErrNotHeld, kind)
			}
			require.True(t, second.Valid())
			require.NoError(t, err)
			patient.GiveBack(t, second)
		}
	})
}

// TestEveryKindRefusesBadPaths before anything is sent.
func TestEveryKindRefusesBadPaths(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for _, path := range []string{"", "relative", "//", "/a\x00", "/a/../b", "/zookeeper/x"} {
			for _, lock := range []func(context.Context) (*locks.Lease, error){
				client.RWMutex(path).RLock, client.RWMutex(path).TryRLock, client.RWMutex(path).Lock, client.RWMutex(path).TryLock,
				permitsOf(client.Semaphore(path, 2), 1), client.Contest(path).Lock, client.Contest(path).TryLock,
				client.RWMutex(path).Reader().Lock, client.Semaphore(path, 2).Weight(1).Lock,
			} {
				_, err := lock(patient.Deadline(t))
				require.ErrorIs(t, err, zkconn.ErrBadPath, "%q", path)
			}
			require.ErrorIs(t, client.SetPermits(patient.Deadline(t), path, 2), zkconn.ErrBadPath, "%q", path)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	})
}

// TestEveryKindHearsRevokeRequest: the holder is told, and a grace period ends the lease by force.
func TestEveryKindHearsRevokeRequest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, o := zk.Open(t), stories.Look(t, zk)
		for kind, lock := range everyKind(client, "/asked", locks.WithGrace(time.Millisecond)) {
			lease, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			node := lease.Path() + "/" + lease.Node()
			if kind == "contest" {
				node = lease.Path()
			}
			_, err = o.Set(zk.Root()+node, []byte("unlock"), -1)
			require.NoError(t, err)
			<-lease.Revoked()
			<-lease.Context().Done()
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked, kind)
			require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrRevoked, kind)
		}
		for _, path := range []string{"/asked/m", "/asked/rw", "/asked/s", "/asked/n"} {
			stories.AwaitNone(t, zk, path)
		}
	})
}

// TestSemaphoreWaitersNodeIsDeleted by an operator: it queues anew, leaves nothing behind, and is served.
func TestSemaphoreWaitersNodeIsDeleted(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, o := zk.Open(t), stories.Look(t, zk)
		holder, err := client.Semaphore("/deleted", 1).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		rec := patient.Recorder(t, client)
		waiting := patient.Elsewhere(patient.Deadline(t), permitsOf(client.Semaphore("/deleted", 1,
			patient.ObservedBy(rec)), 1))
		node := patient.Await(t, rec, messages.StateWatching).Node
		o.Remove(t, "/deleted", node)
		patient.GiveBack(t, holder)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.NotEqual(t, node, got.Lease.Node())
		patient.GiveBack(t, got.Lease)
		stories.AwaitNone(t, zk, "/deleted")
	})
}
