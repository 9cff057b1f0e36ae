package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// The holder's connection is cut and comes back in time: recovering, then held again, same node.
func TestHolderSurvivesCut(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		mutex, rec := recorded(t, client, "/cut")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		node, token := lease.Node(), lease.Token()

		proxy.Cut()
		resumed, err := rec.AwaitNth(deadline(t), messages.StateHeld, 2)
		require.NoError(t, err)
		require.Equal(t, node, resumed.Node)
		require.Equal(t, token, resumed.Token)
		require.NoError(t, lease.Context().Err())
		require.True(t, lease.Valid())
		require.Equal(t, []string{node}, zk.Children(t, zk.Raw(t), "/cut"))

		require.NoError(t, lease.Unlock(deadline(t)))
		await(t, rec, messages.StateReleased)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateRecovering,
			messages.StateHeld, messages.StateReleasing, messages.StateReleased)
		requireNotices(t, rec, &messages.Held{}, &messages.Suspended{}, &messages.Resumed{}, &messages.Released{})
	})
}

// A waiter's connection is cut and comes back: it keeps its node, and its place.
func TestWaiterSurvivesCut(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		holder, err := open(t, zk.Connect()).Mutex("/cut").Lock(deadline(t))
		require.NoError(t, err)
		proxy := zk.Proxy(t)
		mutex, rec := recorded(t, open(t, proxy.Addr()+zk.Root()), "/cut")
		got := elsewhere(deadline(t), mutex.Lock)
		waiting := await(t, rec, messages.StateWatching)

		proxy.Cut()
		_, err = rec.AwaitNth(deadline(t), messages.StateWatching, 2)
		require.NoError(t, err)
		require.NoError(t, holder.Unlock(deadline(t)))
		a := receive(t, got)
		require.NoError(t, a.err)
		require.Equal(t, waiting.Node, a.lease.Node())
		requireStates(t, rec, messages.StateCreating, messages.StateListing, messages.StateWatching,
			messages.StateRecovering, messages.StateListing, messages.StateWatching, messages.StateHeld)
	})
}

// The session expires while one request holds and one waits: the holder is told Lost and its context
// ends; the waiter creates again in the new session and is granted in the end.
func TestSessionExpires(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		mutex, rec := recorded(t, client, "/expire")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		waiterMutex, waiterRec := recorded(t, client, "/expire")
		got := elsewhere(deadline(t), waiterMutex.Lock)
		before := await(t, waiterRec, messages.StateWatching)

		id, password, ok := proxy.Session()
		require.True(t, ok)
		require.Equal(t, client.Session().ID(), id)
		proxy.Refuse(true) // so that the client cannot come back before the session has ended
		require.NoError(t, rig.ExpireSession(deadline(t), zk.members[0].Addr(), id, password))
		proxy.Refuse(false)

		await(t, rec, messages.StateLost)
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.False(t, lease.Valid())
		require.ErrorIs(t, lease.Unlock(deadline(t)), locks.ErrLost)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateRecovering, messages.StateLost)

		a := receive(t, got)
		require.NoError(t, a.err)
		require.NotEqual(t, before.Node, a.lease.Node())
		require.Greater(t, a.lease.Token(), lease.Token())
		require.True(t, a.lease.Valid())
		require.NotEqual(t, id, client.Session().ID())
		requireStates(t, waiterRec, messages.StateCreating, messages.StateWatching, messages.StateRecovering,
			messages.StateCreating, messages.StateHeld)
		require.NoError(t, a.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/expire")
	})
}

// The connection stays away for longer than the lease: Lost comes while it is away, and the node that
// the session still has is deleted when it is back.
func TestLeaseRunsOutWhileDisconnected(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root(), locks.WithSessionTimeout(10*time.Second))
		mutex, rec := recorded(t, client, "/away")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		session := client.Session().ID()

		proxy.Refuse(true)
		proxy.Cut()
		lost := await(t, rec, messages.StateLost)
		require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
		<-lease.Context().Done()
		require.False(t, lease.Valid())
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)

		proxy.Refuse(false)
		awaitNone(t, zk, "/away")
		t.Logf("the session was 0x%x and is 0x%x", session, client.Session().ID())
		again, err := client.Mutex("/away").Lock(deadline(t))
		require.NoError(t, err)
		require.Greater(t, again.Token(), lease.Token())
	})
}
