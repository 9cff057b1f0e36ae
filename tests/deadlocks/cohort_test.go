package deadlocks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestDeadlockInsideAClient: two callers of one client who wait for each other inside it, without a node. The one that asked
// last gives up, and the error says who waited for whom. What another holds in turn is no deadlock.
func TestDeadlockInsideAClient(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		client := patient.Open(t, at.Connect(), locks.WithSessionTimeout(stories.Longest))
		lock := func(path string) *locks.Mutex {
			return client.Mutex(path, locks.WithCohort(64), locks.WithDeadlockDetection("/within", often))
		}
		for range 2 { // with other holders of the same nodes
			patient.GiveBack(t, patient.Locked(t, lock("/within/x").Lock), patient.Locked(t, lock("/within/y").Lock))
		}
		x, y := patient.Locked(t, lock("/within/x").Lock), patient.Locked(t, lock("/within/y").Lock)
		older := patient.Elsewhere(x.Context(), lock("/within/y").Lock)
		patient.AwaitInside(t, client, 1)
		require.Empty(t, deadlocks(t, client, "/within"), "y is given back by somebody who goes on")
		younger := patient.Elsewhere(y.Context(), lock("/within/x").Lock)
		a := patient.Receive(t, younger)
		require.ErrorIs(t, a.Err, locks.ErrDeadlock)
		var of *locks.Error
		require.ErrorAs(t, a.Err, &of)
		require.Equal(t, messages.ReasonDeadlock, of.Reason)
		var deadlock *locks.DeadlockError
		require.ErrorAs(t, a.Err, &deadlock)
		require.Len(t, deadlock.Deadlock.Members, 2)
		require.Contains(t, a.Err.Error(), "holds /within/x and waits for /within/y")
		require.Contains(t, a.Err.Error(), "holds /within/y and waits for /within/x")
		require.Empty(t, older)
		patient.GiveBack(t, y)
		a = patient.Receive(t, older)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease, x)
		stories.AwaitNone(t, at, "/within/x")
		stories.AwaitNone(t, at, "/within/y")
	})
}
