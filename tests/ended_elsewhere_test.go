package tests

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A holder's session is ended at the servers while its client reconnects to a follower, and the connection stays. Each
// heartbeat is refused in a part, behind a header that says that all is well. The first of them ends the lease, somebody
// else holds, and the holder's client goes on in another session. Mistake PartsUnread makes this fail. What a real
// ensemble does is in stalls, scenario ended-elsewhere.
func TestEndedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const session = 10 * time.Second // that of openVirtual
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second), embedded.WithReplicas(3))
		holder := openVirtual(t, server, server.Replica(2).Addr())
		waiter := openVirtual(t, server, server.Replica(1).Addr())
		lease, err := holder.Mutex("/ended").Lock(t.Context())
		require.NoError(t, err)
		mutex, rec := recorded(t, waiter, "/ended")
		waiting := elsewhere(t.Context(), mutex.Lock)
		await(t, rec, messages.StateWatching)
		before := holder.Session().ID()

		ended, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Session: before, Action: embedded.EndBefore})
		require.NoError(t, err)
		server.Replica(2).DropClients()
		require.NoError(t, ended.Wait(t.Context()))
		select {
		case <-lease.Context().Done():
		case <-time.After(session / 6):
			t.Fatal("a lease of a session that is over goes on")
		}
		require.False(t, lease.Valid())
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrLost)
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.True(t, got.lease.Valid())

		require.NoError(t, got.lease.Unlock(t.Context()))
		lease, err = holder.Mutex("/ended").Lock(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, before, holder.Session().ID())
		require.Greater(t, lease.Token(), got.lease.Token())
		require.NoError(t, lease.Unlock(t.Context()))
		require.Len(t, server.Sessions(), 2)
	})
}
