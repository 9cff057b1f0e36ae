package refusals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestCrowdStandsInLine: of one queue a session has no more nodes that wait than it may have. The others wait inside it,
// and get the lock in their turn.
func TestCrowdStandsInLine(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const crowd, nodes = 40, 4
		client := zk.Open(t, locks.WithMaxWaiting(nodes))
		mutex := client.Mutex("/crowd")
		first := patient.Locked(t, mutex.Lock)
		var all sync.WaitGroup
		failed := make([]error, crowd)
		for i := range crowd {
			all.Go(func() {
				lease, err := mutex.Lock(patient.Deadline(t))
				if err == nil {
					err = lease.Unlock(patient.Deadline(t))
				}
				failed[i] = err
			})
		}
		var inside int
		patient.Eventually(t, func() bool { // requests in line get nodes when half of the waiting nodes have gone
			has := client.State()
			inside = has.Inside
			return inside+has.NodeBytes/stories.NodeBytes(zk, "/crowd") == 1+crowd && inside >= crowd-nodes && inside <= crowd-nodes/2
		}, "the others wait inside")
		stories.AwaitCount(t, zk, "/crowd", 1+crowd-inside)

		patient.GiveBack(t, first)
		all.Wait()
		require.NoError(t, errors.Join(failed...))
		require.Zero(t, client.State().Inside)
		stories.AwaitNone(t, zk, "/crowd")
		patient.Eventually(t, func() bool { return client.State().NodeBytes == 0 }, "no node weighs anything")
	})
}

// TestWaitsInsideBehind: the error of a request that gives up inside says behind whom it waited:
// the last node of its session.
func TestWaitsInsideBehind(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithMaxWaiting(1))
		mutex := client.Mutex("/behind")
		lease := patient.Locked(t, mutex.Lock)
		ctx, giveUp := context.WithCancel(patient.Deadline(t))
		waits := patient.Elsewhere(patient.Deadline(t), mutex.Lock)
		stories.AwaitCount(t, zk, "/behind", 2)
		inside := patient.Elsewhere(ctx, mutex.Lock)
		patient.AwaitInside(t, client, 1)
		queue, err := client.Queue(patient.Deadline(t), "/behind")
		require.NoError(t, err)
		giveUp()
		got := patient.Receive(t, inside)
		require.ErrorIs(t, got.Err, context.Canceled)
		var of *locks.Error
		require.ErrorAs(t, got.Err, &of)
		require.Equal(t, queue[1].Node, of.Behind.Node)
		patient.GiveBack(t, lease)
		next := patient.Receive(t, waits)
		require.NoError(t, next.Err)
		patient.GiveBack(t, next.Lease)
		stories.AwaitNone(t, zk, "/behind")
	})
}

// TestTriesBeyondTheBound: a reader that only tries is not refused for want of a node, unless a
// writer of its session is before it. Nor is a request for a permit, unless one before it does not
// get one.
func TestTriesBeyondTheBound(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithMaxWaiting(16))
		const crowd = 300
		for name, try := range map[string]func(context.Context) (*locks.Lease, error){
			"readers": client.RWMutex("/tries").TryRLock,
			"permits": func(ctx context.Context) (*locks.Lease, error) {
				return client.Semaphore("/permits", crowd).TryAcquire(ctx, 1)
			},
		} {
			var all sync.WaitGroup
			failed := make([]error, crowd)
			leases := make([]*locks.Lease, crowd)
			for i := range crowd {
				all.Go(func() { leases[i], failed[i] = try(patient.Deadline(t)) })
			}
			all.Wait()
			require.NoError(t, errors.Join(failed...), name)
			for _, lease := range leases {
				all.Go(func() { _ = lease.Unlock(patient.Deadline(t)) })
			}
			all.Wait()
		}
		writer := patient.Locked(t, client.RWMutex("/tries").Lock)
		var all sync.WaitGroup
		refused := make([]error, crowd)
		for i := range crowd {
			all.Go(func() { _, refused[i] = client.RWMutex("/tries").TryRLock(patient.Deadline(t)) })
		}
		all.Wait()
		for _, err := range refused {
			require.ErrorIs(t, err, locks.ErrNotAcquired)
		}
		patient.GiveBack(t, writer)
		stories.AwaitNone(t, zk, "/tries")
	})
}

// TestSessionFull: where all nodes of a session weigh as much as they may, a lock that needs a node is
// refused, also behind a holder of the session. Kept holds that nobody uses are given back before.
func TestSessionFull(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithMaxNodeBytes(2*stories.NodeBytes(zk, "/a")))
		lock := func(path string) *locks.Lease {
			lease := patient.Locked(t, client.Mutex(path).Lock)
			return lease
		}
		for _, path := range []string{"/r", "/s", "/t"} { // the third has the first given up
			lease := patient.Locked(t, client.Mutex(path, locks.WithSticky(time.Hour)).Lock)
			patient.GiveBack(t, lease)
		}
		a, b := lock("/a"), lock("/b")
		stories.AwaitNone(t, zk, "/r")
		stories.AwaitNone(t, zk, "/t")
		for _, path := range []string{"/c", "/d"} {
			_, err := client.Mutex(path).Lock(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrSessionFull)
			require.True(t, locks.MayPass(err))
			require.ErrorContains(t, err, fmt.Sprint(client.State().MaxNodeBytes))
		}
		_, err := client.Mutex("/a").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		_, err = client.Mutex("/a").Lock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		patient.GiveBack(t, b)
		second := patient.Elsewhere(patient.Deadline(t), client.Mutex("/a").Lock)
		stories.AwaitCount(t, zk, "/a", 2)
		_, err = client.Mutex("/c").Lock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		patient.GiveBack(t, a)
		got := patient.Receive(t, second)
		require.NoError(t, got.Err)
		patient.Eventually(t, func() bool { return client.State().NodeBytes == stories.NodeBytes(zk, "/a") },
			"the first's node is gone")
		c := lock("/c")
		patient.GiveBack(t, c, got.Lease)
	})
}

// TestAllInAFullSession: two callers that want the same two locks of a session with room for two nodes stand in each
// other's way. They begin again after pauses, and get both. A session without room for two refuses them after a few
// tries, and not thousands.
func TestAllInAFullSession(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithMaxNodeBytes(2*stories.NodeBytes(zk, "/a")))
		var tries atomic.Int64
		both := func() error {
			for ; ; tries.Add(1) {
				lease, err := locks.All(patient.Deadline(t), client.Mutex("/a"), client.Mutex("/b"))
				if errors.Is(err, locks.ErrSessionFull) {
					continue // as a caller that does not pause
				}
				if err == nil {
					err = lease.Unlock(patient.Deadline(t))
				}
				return err
			}
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { assert.NoError(t, both()) })
		}
		all.Wait()
		t.Logf("%d were refused", tries.Load())
		stories.AwaitNone(t, zk, "/a")
		stories.AwaitNone(t, zk, "/b")
		patient.Eventually(t, func() bool { return client.State().NodeBytes == 0 }, "no node weighs anything")
	})
}

// TestAllIsRefused: a session in which the second lock never has room refuses all, after a few tries, and holds nothing.
func TestAllIsRefused(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t, locks.WithMaxNodeBytes(stories.NodeBytes(zk, "/a")))
		rec := patient.Recorder(t, client)
		_, err := locks.All(patient.Deadline(t), client.Mutex("/a", locks.WithObserver(rec.PID())), client.Mutex("/b"))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		const tries = 6
		patient.Eventually(t, func() bool {
			held := slices.DeleteFunc(rec.States(), func(state messages.State) bool { return state != messages.StateHeld })
			return len(held) == tries
		}, "it has had the first so often")
		stories.AwaitNone(t, zk, "/a")
	})
}

// TestTransactionsWeigh: ephemeral nodes of transactions weigh as those of locks do, until they are deleted.
func TestTransactionsWeigh(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one := 4 + len(zk.Root()+"/mine-0123456789")
		client := zk.Open(t, locks.WithMaxNodeBytes(stories.NodeBytes(zk, "/a")+one))
		lease := patient.Locked(t, client.Mutex("/a").Lock)
		mine := locks.CreateSequential("/mine-", nil)
		mine.Ephemeral = true
		made, err := lease.Txn(patient.Deadline(t), mine)
		require.NoError(t, err)
		_, err = lease.Txn(patient.Deadline(t), mine)
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		require.True(t, lease.Valid())
		_, err = lease.Txn(patient.Deadline(t), locks.CreateSequential("/theirs-", nil))
		require.NoError(t, err, "what outlives the session weighs nothing")
		_, err = lease.Txn(patient.Deadline(t), locks.Delete(made[0].Path, locks.AnyVersion))
		require.NoError(t, err)
		_, err = lease.Txn(patient.Deadline(t), mine)
		require.NoError(t, err)
		require.Equal(t, client.State().MaxNodeBytes, client.State().NodeBytes)
		patient.GiveBack(t, lease)
	})
}
