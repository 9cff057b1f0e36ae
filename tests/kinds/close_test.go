package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// every are the kinds of locks. Any two of one kind exclude each other.
var every = map[string]scene.Kind{
	"exclusive": scene.Exclusive, "write": scene.Writer, "semaphore": scene.Permits(2, 2), "contest": scene.Contest,
	"named": scene.Exclusive.With(locks.WithName("n")),
}

// TestEveryKindIsFreeWhenItsHolderCloses: a waiter has it at once, and the holder's lease says why
// it ended. After that the client refuses everything with ErrClosed.
func TestEveryKindIsFreeWhenItsHolderCloses(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		holder, next := zk.Open(t), zk.Open(t)
		leases, waiting := map[string]*locks.Lease{}, map[string]*scene.Waiter{}
		for name, kind := range every {
			leases[name], waiting[name] = kind.Holds(t, holder, "/close/"+name), kind.Waits(t, next, "/close/"+name)
		}
		require.NoError(t, holder.Close(scene.Deadline(t)))
		for name, lease := range leases {
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost, name)
			require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrClosed, name)
			require.False(t, lease.Valid())
			require.Greater(t, waiting[name].Passes(t).Token(), lease.Token())
			_, err := every[name](holder, "/close").Lock(scene.Deadline(t))
			require.ErrorIs(t, err, locks.ErrClosed, name)
		}
		_, err := leases["write"].Downgrade(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrLost)
		require.ErrorIs(t, holder.SetPermits(scene.Deadline(t), "/close/s", 3), locks.ErrClosed)
	})
}

// TestEveryKindRefusesBadPaths before anything is sent.
func TestEveryKindRefusesBadPaths(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	for _, path := range []string{"", "relative", "/", "/zookeeper/x"} {
		for name, kind := range every {
			for _, lock := range []locks.Locker{kind(client, path), locks.Try(kind(client, path)), client.RWMutex(path).Reader()} {
				_, err := lock.Lock(scene.Deadline(t))
				require.ErrorIs(t, err, zkconn.ErrBadPath, name)
			}
		}
	}
	require.Empty(t, zk.Children(t, zk.Raw(t), ""))
}
