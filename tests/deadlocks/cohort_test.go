package deadlocks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestDeadlockInsideAClient: two callers of one client who wait for each other inside it, without a node. The one that asked
// last gives up, and the error says who waited for whom. What another holds in turn is no deadlock.
func TestDeadlockInsideAClient(t *testing.T) {
	scene.EachServerAlone(t, func(t *testing.T, at *scene.Servers) {
		client := at.Open(t, locks.WithSessionTimeout(scene.Longest))
		lock := func(path string) *locks.Mutex {
			return client.Mutex(path, locks.WithCohort(64), locks.WithDeadlockDetection("/within", often), locks.WithLabel("to "+path))
		}
		for range 2 { // with other holders of the same nodes
			scene.GiveBack(t, scene.Locked(t, lock("/within/x").Lock), scene.Locked(t, lock("/within/y").Lock))
		}
		x, y := scene.Locked(t, lock("/within/x").Lock), scene.Locked(t, lock("/within/y").Lock)
		older := scene.Elsewhere(x.Context(), lock("/within/y").Lock)
		scene.AwaitInside(t, client, 1)
		require.Empty(t, deadlocks(t, client, "/within"), "y is given back by somebody who goes on")
		younger := scene.Elsewhere(y.Context(), lock("/within/x").Lock)
		a := scene.Receive(t, younger)
		require.ErrorIs(t, a.Err, locks.ErrDeadlock)
		var of *locks.Error
		require.ErrorAs(t, a.Err, &of)
		require.Equal(t, messages.ReasonDeadlock, of.Reason)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.Err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.Err.Error(), " “to /within/y” holds /within/x and waits for /within/y")
		require.Contains(t, a.Err.Error(), " “to /within/x” holds /within/y and waits for /within/x")
		require.Empty(t, older)
		scene.GiveBack(t, y)
		a = scene.Receive(t, older)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease, x)
		scene.AwaitNone(t, at, "/within/x")
		scene.AwaitNone(t, at, "/within/y")
	})
}

// TestDeadlockOfOneInACohort: a call in a deadlock gives up, and no other call of its cohort, also where the first of them has
// gone, and the node that was asked for the call is for those behind it.
func TestDeadlockOfOneInACohort(t *testing.T) {
	scene.EachServerAlone(t, func(t *testing.T, at *scene.Servers) {
		client, other := at.Open(t), at.Open(t)
		x, y := scene.Locked(t, client.Mutex("/one/x").Lock), scene.Locked(t, other.Mutex("/one/y").Lock)
		older := scene.Elsewhere(y.Context(), other.Mutex("/one/x").Lock)
		m := client.Mutex("/one/y", locks.WithCohort(2), locks.WithDeadlockDetection("/one", often))
		first, leave := context.WithCancel(t.Context())
		defer leave()
		var all []<-chan scene.Answer
		for _, ctx := range []context.Context{first, t.Context(), x.Context(), t.Context()} {
			all = append(all, scene.Elsewhere(ctx, m.Lock))
			scene.AwaitWaiting(t, client, "/one/y", len(all))
		}
		leave()
		require.ErrorIs(t, scene.Receive(t, all[0]).Err, context.Canceled)
		require.ErrorIs(t, scene.Receive(t, all[2]).Err, locks.ErrDeadlock)
		scene.GiveBack(t, x)
		scene.GiveBack(t, scene.Receive(t, older).Lease, y)
		scene.GiveBack(t, scene.Receive(t, all[1]).Lease)
		scene.GiveBack(t, scene.Receive(t, all[3]).Lease)
	})
}
