package txn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
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

// cuts has the next transaction of a lease that writes to a node struck.
func cuts(t *testing.T, server *embedded.Server, action embedded.Action, path string) {
	t.Helper()
	_, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: path, Action: action})
	require.NoError(t, err)
}

// TestFenceOfEachKind: a fence writes to the holder's node, in its first hold and in one that may use the node again. The
// lease goes on, its next transaction is carried out, and the waiter of another client holds once the lock is given back.
// No waiter has to look again for that.
func TestFenceOfEachKind(t *testing.T) {
	for name, of := range guards {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client, others := scene.Client(t, server), scene.Client(t, server)
				lock, waits := of(client, others)
				lease, look := scene.Locked(t, lock), scene.Locked(t, others.Mutex("/look").Lock)
				_, err := lease.Txn(t.Context(), locks.Create("/dir", nil))
				require.NoError(t, err)
				for range 2 {
					cuts(t, server, embedded.CutBefore, "/dir/n-")
					made, err := lease.Txn(t.Context(), locks.CreateSequential("/dir/n-", nil))
					require.NoError(t, err)
					_, version, err := look.Get(t.Context(), "/lock/"+lease.Node())
					require.NoError(t, err)
					require.Positive(t, version, "it is fenced")
					_, err = lease.Txn(t.Context(), locks.Delete(made[0].Path, 0))
					require.NoError(t, err)
					require.True(t, lease.Valid())
					scene.GiveBack(t, lease)
					lease = scene.Locked(t, lock)
				}
				waiter := scene.Elsewhere(t.Context(), waits)
				time.Sleep(time.Second)
				cuts(t, server, embedded.CutBefore, "/dir/n-")
				_, err = lease.Txn(t.Context(), locks.CreateSequential("/dir/n-", nil))
				require.NoError(t, err)
				require.Empty(t, waiter, "the lock is held")
				scene.GiveBack(t, lease)
				next := scene.Receive(t, waiter)
				require.NoError(t, next.Err)
				scene.GiveBack(t, next.Lease, look)
			})
		})
	}
}

// TestTxnOfAHolderThatIsAsked: a revoke request gives the holder's node another version between two transactions. The
// second is carried out, and a fence does not take the request away.
func TestTxnOfAHolderThatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		operator := scene.Client(t, server)
		lease := scene.Locked(t, scene.Client(t, server).Mutex("/lock").Lock)
		write := func() string {
			made, err := lease.Txn(t.Context(), locks.CreateSequential("/dir/n-", nil))
			require.NoError(t, err)
			return made[0].Path
		}
		_, err := lease.Txn(t.Context(), locks.Create("/dir", nil))
		require.NoError(t, err)
		write()
		_, err = operator.Revoke(t.Context(), "/lock")
		require.NoError(t, err)
		write()
		scene.AwaitAsked(t, lease)
		cuts(t, server, embedded.CutAfter, "/dir/n-")
		require.Equal(t, "/dir/n-0000000002", write(), "the lost reply is resolved")
		data, version, err := lease.Get(t.Context(), "/lock/"+lease.Node())
		require.NoError(t, err)
		require.EqualValues(t, 2, version, "a revoke request, and a fence")
		require.True(t, queue.IsRevokeRequest(data))
		scene.GiveBack(t, lease)
	})
}

// TestTxnIsNotResolved: a session that may not write its own node cannot fence, and of a node that may not be read nothing
// shows whether it was written. The outcome of a lost request or reply is unknown, also without a deadline, and that of any
// other transaction is not. The lease goes on.
func TestTxnIsNotResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		unfenced := scene.Client(t, server, locks.WithACL(zk.WorldACL(zk.PermAll&^zk.PermWrite)...))
		look := scene.Dial(t, server.Connect(), zkconn.WithDialer(server.DialContext), zkconn.WithACL(zk.WorldACL(zk.PermAll&^zk.PermRead)...))
		require.NoError(t, look.EnsureParents("/dir"))
		secret, err := look.CreatePlain("/dir", "secret-", nil)
		require.NoError(t, err)
		for client, path := range map[*locks.Client]string{unfenced: "/a", scene.Client(t, server): "/dir/" + secret.Name} {
			for _, action := range []embedded.Action{embedded.CutBefore, embedded.CutAfter} {
				lease := scene.Locked(t, client.Mutex("/lock").Lock)
				_, err := lease.Txn(t.Context(), locks.CreateSequential("/other-", nil))
				require.NoError(t, err)
				cuts(t, server, action, path)
				op := locks.Set(path, nil, locks.AnyVersion)
				if client == unfenced {
					op = locks.Create(path, nil)
				}
				_, err = lease.Txn(t.Context(), op)
				require.ErrorIs(t, err, locks.ErrUnknownOutcome)
				require.True(t, lease.Valid())
				scene.GiveBack(t, lease)
			}
		}
	})
}
