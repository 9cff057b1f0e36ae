package txn

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

type locking func(context.Context) (*locks.Lease, error)

// guards are locks, each with another client's lock that waits for it.
var guards = map[string]func(mine, others *locks.Client) (lock, waits locking){
	"mutex":     exclusively(),
	"sticky":    exclusively(locks.WithSticky(time.Hour)),
	"cohort":    exclusively(locks.WithCohort(3)),
	"reentrant": exclusively(locks.WithReentry()),
	"writer": func(mine, others *locks.Client) (lock, waits locking) {
		return mine.RWMutex("/lock").Lock, others.RWMutex("/lock").RLock
	},
	"reader": func(mine, others *locks.Client) (lock, waits locking) {
		return mine.RWMutex("/lock").RLock, others.RWMutex("/lock").Lock
	},
	"semaphore": func(mine, others *locks.Client) (lock, waits locking) {
		return mine.Semaphore("/lock", 1).Weight(1).Lock, others.Semaphore("/lock", 1).Weight(1).Lock
	},
}

func exclusively(opts ...locks.LockOption) func(mine, others *locks.Client) (lock, waits locking) {
	return func(mine, others *locks.Client) (lock, waits locking) {
		return mine.Mutex("/lock", opts...).Lock, others.Mutex("/lock").Lock
	}
}

// TestFenceOfEachKind: a fence writes to the holder's node, in its first hold and in one that may use the node again. The
// lease goes on, its next transaction is carried out, and the waiter of another client holds once the lock is given back.
// No waiter has to look again for that.
func TestFenceOfEachKind(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		for name, of := range guards {
			t.Run(name, func(t *testing.T) { fenceHolds(t, zk.Below(t), of) })
		}
	})
}

func fenceHolds(t *testing.T, zk *stories.Servers, of func(mine, others *locks.Client) (lock, waits locking)) {
	zk.Write(t, "/dir", "")
	proxy := zk.Proxy(t)
	client, others := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
	lock, waits := of(client, others)
	for range 2 {
		lease := patient.Locked(t, lock)
		fault := loses(proxy, rig.CutBefore, zk.Root()+"/dir/n-")
		made, err := lease.Txn(patient.Deadline(t), locks.CreateSequential("/dir/n-", nil))
		require.NoError(t, err)
		patient.Receive(t, fault.Fired())
		require.Positive(t, zk.Read(t, "/lock/"+lease.Node()).Version, "it is fenced")
		_, err = lease.Txn(patient.Deadline(t), locks.Delete(made[0].Path, 0))
		require.NoError(t, err)
		require.True(t, lease.Valid())
		patient.GiveBack(t, lease)
	}
	lease := patient.Locked(t, lock)
	waiter := patient.Elsewhere(patient.Deadline(t), waits)
	stories.AwaitCount(t, zk, "/lock", 2)
	fault := loses(proxy, rig.CutBefore, zk.Root()+"/dir/n-")
	_, err := lease.Txn(patient.Deadline(t), locks.CreateSequential("/dir/n-", nil))
	require.NoError(t, err)
	patient.Receive(t, fault.Fired())
	require.Empty(t, waiter, "the lock is held")
	patient.GiveBack(t, lease)
	next := patient.Receive(t, waiter)
	require.NoError(t, next.Err)
	patient.GiveBack(t, next.Lease)
}

// TestTxnOfAHolderThatIsAsked: a revoke request gives the holder's node another version between two transactions. The
// second is carried out, and a fence does not take the request away.
func TestTxnOfAHolderThatIsAsked(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		zk.Write(t, "/dir", "")
		proxy := zk.Proxy(t)
		client, operator := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		write := func() (made []locks.OpResult) {
			made, err := lease.Txn(patient.Deadline(t), locks.CreateSequential("/dir/n-", nil))
			require.NoError(t, err)
			return made
		}
		write()
		_, err := operator.Revoke(context.WithoutCancel(patient.Deadline(t)), "/lock")
		require.NoError(t, err)
		write()
		patient.AwaitAsked(t, lease)
		fault := loses(proxy, rig.DropReply, zk.Root()+"/dir/n-")
		require.Equal(t, "/dir/n-0000000002", write()[0].Path, "the lost reply is resolved")
		patient.Receive(t, fault.Fired())
		at := zk.Read(t, "/lock/"+lease.Node())
		require.EqualValues(t, 2, at.Version, "a revoke request, and a fence")
		require.True(t, queue.IsRevokeRequest([]byte(at.Data)))
		patient.GiveBack(t, lease)
	})
}

// TestTxnWithoutWrite: a session that may not write its own node cannot fence. The outcome of a lost reply is unknown, and
// that of any other transaction is not.
func TestTxnWithoutWrite(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, servers *stories.Servers) {
		proxy := servers.Proxy(t)
		client := patient.Open(t, proxy.Addr()+servers.Root(), locks.WithACL(withoutWrite...))
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		_, err := lease.Txn(patient.Deadline(t), locks.Create("/dir", nil))
		require.NoError(t, err)
		fault := loses(proxy, rig.CutBefore, servers.Root()+"/a")
		_, err = lease.Txn(patient.Deadline(t), locks.Create("/a", nil))
		patient.Receive(t, fault.Fired())
		require.ErrorIs(t, err, locks.ErrUnknownOutcome)
		require.True(t, lease.Valid())
		patient.GiveBack(t, lease)
	})
}

// TestTxnOfANodeThatMayNotBeRead: nothing shows whether it was written. The transaction says so, also without a deadline,
// and the lock is given back.
func TestTxnOfANodeThatMayNotBeRead(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, servers *stories.Servers) {
		proxy := servers.Proxy(t)
		client := patient.Open(t, proxy.Addr()+servers.Root())
		_, err := servers.Raw(t).Create(servers.Root()+"/secret", nil, 0, zk.WorldACL(zk.PermAll&^zk.PermRead))
		require.NoError(t, err)
		for _, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
			lease := patient.Locked(t, client.Mutex("/lock").Lock)
			fault := loses(proxy, action, servers.Root()+"/secret")
			answer := make(chan error, 1)
			go func() {
				_, err := lease.Txn(context.WithoutCancel(patient.Deadline(t)), locks.Set("/secret", nil, locks.AnyVersion))
				answer <- err
			}()
			patient.Receive(t, fault.Fired())
			require.ErrorIs(t, patient.Receive(t, answer), locks.ErrUnknownOutcome)
			patient.GiveBack(t, lease)
		}
	})
}

var withoutWrite = zk.WorldACL(zk.PermAll &^ zk.PermWrite)
