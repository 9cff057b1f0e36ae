package leases

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// The session expires while one request holds and one waits: the holder is told Lost and its context
// ends; the waiter creates again in the new session and is granted in the end.
func TestSessionExpires(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		mutex, rec := patient.Recorded(t, client, "/expire")
		lease := patient.Locked(t, mutex.Lock)
		waiterMutex, waiterRec := patient.Recorded(t, client, "/expire")
		got := patient.Elsewhere(patient.Deadline(t), waiterMutex.Lock)
		before := patient.Await(t, waiterRec, messages.StateWatching)

		id, password, ok := proxy.Session()
		require.True(t, ok)
		require.Equal(t, client.Session().ID(), id)
		// The connection is away when the session ends. Where it is not, a heartbeat may bring the news in place of the
		// connection's end, and nothing recovers.
		proxy.Refuse(true)
		proxy.Cut()
		patient.Await(t, rec, messages.StateRecovering)
		require.NoError(t, rig.ExpireSession(patient.Deadline(t), zk.Members[0].Addr(), id, password))
		proxy.Refuse(false)

		patient.Await(t, rec, messages.StateLost)
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.False(t, lease.Valid())
		require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrLost)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateRecovering, messages.StateLost)

		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		require.NotEqual(t, before.Node, a.Lease.Node())
		require.Greater(t, a.Lease.Token(), lease.Token())
		require.True(t, a.Lease.Valid())
		require.NotEqual(t, id, client.Session().ID())
		requireStates(t, waiterRec, messages.StateCreating, messages.StateWatching, messages.StateRecovering,
			messages.StateCreating, messages.StateHeld)
		patient.GiveBack(t, a.Lease)
		stories.AwaitNone(t, zk, "/expire")
	})
}

// The connection stays away for longer than the lease: Lost comes while it is away, and the node that
// the session still has is deleted when it is back.
func TestLeaseRunsOutWhileDisconnected(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root(), locks.WithSessionTimeout(10*time.Second))
		mutex, rec := patient.Recorded(t, client, "/away")
		lease := patient.Locked(t, mutex.Lock)
		session := client.Session().ID()

		proxy.Refuse(true)
		proxy.Cut()
		lost := patient.Await(t, rec, messages.StateLost)
		require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
		<-lease.Context().Done()
		require.False(t, lease.Valid())
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)

		proxy.Refuse(false)
		stories.AwaitNone(t, zk, "/away")
		t.Logf("the session was 0x%x and is 0x%x", session, client.Session().ID())
		again := patient.Locked(t, client.Mutex("/away").Lock)
		require.Greater(t, again.Token(), lease.Token())
	})
}
