package leases

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// unreachable takes the server away; back gives it back.
func unreachable(server *embedded.Server) (back func()) {
	server.Replica(0).Refuse(true)
	server.Replica(0).DropClients()
	return func() { server.Replica(0).Refuse(false) }
}

// TestUnlockEndsWithTheLease: the servers are gone and ctx has no end, as in the defer of an
// ordinary program. Unlock returns when the lease is over, and says what is not known. The session
// goes on, and Unlock tells so when it is called again.
func TestUnlockEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		lease := scene.Locked(t, client.Mutex("/gone").Lock)
		back, cut := unreachable(server), time.Now()

		err := lease.Unlock(context.Background())
		require.ErrorIs(t, err, locks.ErrUnconfirmed)
		require.ErrorContains(t, err, "goes on trying")
		require.ErrorContains(t, err, "/gone")
		require.NotContains(t, err.Error(), "\n")
		var e *locks.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, messages.StateReleasing, e.State)
		require.Equal(t, lease.Node(), e.Node)
		require.LessOrEqual(t, time.Since(cut), 10*time.Second, "a session timeout")
		require.False(t, time.Now().Before(lease.Deadline()), "it waits for as long as there is hope")

		again := time.Now()
		require.ErrorIs(t, lease.Unlock(context.Background()), locks.ErrUnconfirmed)
		require.Less(t, time.Since(again), time.Second)

		back()
		for err = lease.Unlock(context.Background()); err != nil; err = lease.Unlock(context.Background()) {
			require.ErrorIs(t, err, locks.ErrUnconfirmed)
			require.Less(t, time.Since(cut), time.Hour)
		}
		next, err := client.Mutex("/gone").TryLock(t.Context())
		require.NoError(t, err, "the node is gone")
		scene.GiveBack(t, next)
	})
}

// TestUnlockOutlastsAShortOutage: the servers are back before the lease is over.
func TestUnlockOutlastsAShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		lease := scene.Locked(t, client.Mutex("/short").Lock)
		time.AfterFunc(500*time.Millisecond, unreachable(server))
		require.NoError(t, lease.Unlock(context.Background()))
	})
}

// TestUnlockOfSeveralEndsWithTheLeases: not one after the other.
func TestUnlockOfSeveralEndsWithTheLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		leases, err := locks.All(t.Context(), client.Mutex("/a"), client.Mutex("/b"), client.Mutex("/c"))
		require.NoError(t, err)
		back, cut := unreachable(server), time.Now()
		require.ErrorIs(t, leases.Unlock(context.Background()), locks.ErrUnconfirmed)
		require.LessOrEqual(t, time.Since(cut), 10*time.Second)
		back()
	})
}
