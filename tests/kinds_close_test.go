package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
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

// TestEveryKindIsFreeWhenItsHolderCloses: who waits has it at once, and the holder's lease says why it ended. After
// that the client refuses everything with ErrClosed.
func TestEveryKindIsFreeWhenItsHolderCloses(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		holder, next := open(t, zk.Connect()), open(t, zk.Connect())
		leases, waiting := map[string]*locks.Lease{}, map[string]<-chan answer{}
		for kind, lock := range everyKind(holder, "/close") {
			lease, err := lock(deadline(t))
			require.NoError(t, err)
			leases[kind] = lease
			rec := recorder(t, next)
			waiting[kind] = elsewhere(deadline(t), everyKind(next, "/close", observedBy(rec))[kind])
			await(t, rec, messages.StateWatching)
		}
		require.NoError(t, holder.Close(deadline(t)))
		for kind, lease := range leases {
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost, kind)
			require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrClosed, kind)
			require.False(t, lease.Valid())
			got := receive(t, waiting[kind])
			require.NoError(t, got.err, kind)
			require.Greater(t, got.lease.Token(), lease.Token())
			require.NoError(t, got.lease.Unlock(deadline(t)))
			_, err := everyKind(holder, "/close")[kind](deadline(t))
			require.ErrorIs(t, err, locks.ErrClosed, kind)
		}
		_, err := leases["write"].Downgrade(deadline(t))
		require.ErrorIs(t, err, locks.ErrLost)
		require.ErrorIs(t, holder.SetPermits(deadline(t), "/close/s", 3), locks.ErrClosed)
	})
}

// TestEveryKindIsGivenBackOnce: a second Unlock says so, and harms nobody.
func TestEveryKindIsGivenBackOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		for kind := range everyKind(client, "/twice") {
			lock := everyKind(client, "/twice")[kind]
			first, err := lock(deadline(t))
			require.NoError(t, err)
			require.NoError(t, first.Unlock(deadline(t)))
			second, err := lock(deadline(t))
			require.NoError(t, err)
			for range 2 {
				require.ErrorIs(t, first.Unlock(deadline(t)), locks.ErrNotHeld, kind)
			}
			require.True(t, second.Valid())
			require.NoError(t, err)
			require.NoError(t, second.Unlock(deadline(t)))
		}
	})
}

// TestEveryKindRefusesBadPaths before anything is sent.
func TestEveryKindRefusesBadPaths(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		for _, path := range []string{"", "relative", "//", "/a\x00", "/a/../b", "/zookeeper/x"} {
			for _, lock := range []func(context.Context) (*locks.Lease, error){
				client.RWMutex(path).RLock, client.RWMutex(path).TryRLock, client.RWMutex(path).Lock, client.RWMutex(path).TryLock,
				permitsOf(client.Semaphore(path, 2), 1), client.Contest(path).Lock, client.Contest(path).TryLock,
				client.RWMutex(path).Reader().Lock, client.Semaphore(path, 2).Weight(1).Lock,
			} {
				_, err := lock(deadline(t))
				require.ErrorIs(t, err, zkconn.ErrBadPath, "%q", path)
			}
			require.ErrorIs(t, client.SetPermits(deadline(t), path, 2), zkconn.ErrBadPath, "%q", path)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	})
}

// TestEveryKindHearsRevokeRequest: the holder is told, and a grace period ends the lease by force.
func TestEveryKindHearsRevokeRequest(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client, o := open(t, zk.Connect()), look(t, zk)
		for kind, lock := range everyKind(client, "/asked", locks.WithGrace(time.Millisecond)) {
			lease, err := lock(deadline(t))
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
			require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrRevoked, kind)
		}
		for _, path := range []string{"/asked/m", "/asked/rw", "/asked/s", "/asked/n"} {
			awaitNone(t, zk, path)
		}
	})
}

// TestSemaphoreWaitersNodeIsDeleted by an operator: it queues anew, leaves nothing behind, and is served.
func TestSemaphoreWaitersNodeIsDeleted(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client, o := open(t, zk.Connect()), look(t, zk)
		holder, err := client.Semaphore("/deleted", 1).Acquire(deadline(t), 1)
		require.NoError(t, err)
		rec := recorder(t, client)
		waiting := elsewhere(deadline(t), permitsOf(client.Semaphore("/deleted", 1, observedBy(rec)), 1))
		node := await(t, rec, messages.StateWatching).Node
		o.remove(t, "/deleted", node)
		require.NoError(t, holder.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.NotEqual(t, node, got.lease.Node())
		require.NoError(t, got.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/deleted")
	})
}
