package tests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestCrowdStandsInLine: of one queue a session has no more nodes that wait than it may have. The others wait inside it,
// and get the lock in their turn.
func TestCrowdStandsInLine(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		const crowd, nodes = 40, 4
		client, other := open(t, zk.Connect(), locks.WithMaxWaiting(nodes)), open(t, zk.Connect())
		mutex := client.Mutex("/crowd")
		first, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		var all sync.WaitGroup
		failed := make([]error, crowd)
		for i := range crowd {
			all.Go(func() {
				lease, err := mutex.Lock(deadline(t))
				if err == nil {
					err = lease.Unlock(deadline(t))
				}
				failed[i] = err
			})
		}
		var inside int
		patient.Eventually(t, func() bool { // those in line get nodes when half of those that may wait have gone
			has := client.State()
			inside = has.Inside
			return inside+has.NodeBytes/nodeBytes(zk, "/crowd") == 1+crowd && inside >= crowd-nodes && inside <= crowd-nodes/2
		}, "the others wait inside")
		awaitCount(t, zk, "/crowd", 1+crowd-inside)

		queue, err := client.Queue(deadline(t), "/crowd")
		require.NoError(t, err)
		require.Len(t, queue, 1+crowd-inside)
		require.Equal(t, inside, queue[len(queue)-1].Waiting, "the session sees its own line")
		queue, err = other.Queue(deadline(t), "/crowd")
		require.NoError(t, err)
		require.Len(t, queue, 1+crowd-inside)
		require.Zero(t, queue[len(queue)-1].Waiting, "another does not")

		require.NoError(t, first.Unlock(deadline(t)))
		all.Wait()
		require.NoError(t, errors.Join(failed...))
		require.Zero(t, client.State().Inside)
		awaitNone(t, zk, "/crowd")
		patient.Eventually(t, func() bool { return client.State().NodeBytes == 0 }, "no node weighs anything")
	})
}

// TestWaitsInsideBehind: who gives up inside says behind whom it waited: the last node of its session.
func TestWaitsInsideBehind(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithMaxWaiting(1))
		mutex := client.Mutex("/behind")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		ctx, giveUp := context.WithCancel(deadline(t))
		second, rec := recorded(t, client, "/behind")
		waits := elsewhere(deadline(t), second.Lock)
		patient.Eventually(t, func() bool { // it may wait inside itself before, until it is known that the first holds
			return slices.ContainsFunc(rec.Transitions(), func(m messages.Transition) bool {
				return m.To == messages.StateWatching && m.Node != ""
			})
		}, "the second waits with a node")
		third, told := recorded(t, client, "/behind")
		inside := elsewhere(ctx, third.Lock)
		await(t, told, messages.StateWatching)
		require.Equal(t, 1, client.State().Inside)
		queue, err := client.Queue(deadline(t), "/behind")
		require.NoError(t, err)
		giveUp()
		got := receive(t, inside)
		require.ErrorIs(t, got.err, context.Canceled)
		var of *locks.Error
		require.ErrorAs(t, got.err, &of)
		require.Equal(t, queue[1].Node, of.Behind.Node)
		require.NoError(t, lease.Unlock(deadline(t)))
		next := receive(t, waits)
		require.NoError(t, next.err)
		require.NoError(t, next.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/behind")
	})
}

// TestTriesBeyondTheBound: a reader that only tries is not refused for want of a node, unless a writer of its session is
// before it. Nor is who wants a permit, unless somebody before it does not get one.
func TestTriesBeyondTheBound(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithMaxWaiting(16))
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
				all.Go(func() { leases[i], failed[i] = try(deadline(t)) })
			}
			all.Wait()
			require.NoError(t, errors.Join(failed...), name)
			for _, lease := range leases {
				all.Go(func() { _ = lease.Unlock(deadline(t)) })
			}
			all.Wait()
		}
		writer, err := client.RWMutex("/tries").Lock(deadline(t))
		require.NoError(t, err)
		var all sync.WaitGroup
		refused := make([]error, crowd)
		for i := range crowd {
			all.Go(func() { _, refused[i] = client.RWMutex("/tries").TryRLock(deadline(t)) })
		}
		all.Wait()
		for _, err := range refused {
			require.ErrorIs(t, err, locks.ErrNotAcquired)
		}
		require.NoError(t, writer.Unlock(deadline(t)))
		awaitNone(t, zk, "/tries")
	})
}

// nodeBytes is the weight of a node of a lock path.
func nodeBytes(zk *servers, path string) int {
	return 4 + len(zk.Root()+path) + len("/_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")
}

// TestSessionFull: where all nodes of a session weigh as much as they may, a lock that has none of them in its queue is
// refused, and one that has waits inside. Retained nodes that nobody uses are given up before.
func TestSessionFull(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithMaxNodeBytes(2*nodeBytes(zk, "/a")))
		lock := func(path string) *locks.Lease {
			lease, err := client.Mutex(path).Lock(deadline(t))
			require.NoError(t, err)
			return lease
		}
		for _, path := range []string{"/r", "/s", "/t"} { // the third has the first given up
			lease, err := client.Mutex(path, locks.WithSticky(forLong)).Lock(deadline(t))
			require.NoError(t, err)
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		a, b := lock("/a"), lock("/b")
		awaitNone(t, zk, "/r")
		awaitNone(t, zk, "/t")
		for _, path := range []string{"/c", "/d"} {
			_, err := client.Mutex(path).Lock(deadline(t))
			require.ErrorIs(t, err, locks.ErrSessionFull)
			require.True(t, locks.MayPass(err))
			require.ErrorContains(t, err, fmt.Sprint(client.State().MaxNodeBytes))
		}
		_, err := client.Mutex("/a").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		second := elsewhere(deadline(t), client.Mutex("/a").Lock)
		patient.Eventually(t, func() bool { return client.State().Inside == 1 }, "the second waits inside")
		require.NoError(t, b.Unlock(deadline(t)))
		awaitCount(t, zk, "/a", 2)
		_, err = client.Mutex("/c").Lock(deadline(t))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.NoError(t, a.Unlock(deadline(t)))
		got := receive(t, second)
		require.NoError(t, got.err)
		patient.Eventually(t, func() bool { return client.State().NodeBytes == nodeBytes(zk, "/a") }, "the first's node is gone")
		c := lock("/c")
		require.NoError(t, c.Unlock(deadline(t)))
		require.NoError(t, got.lease.Unlock(deadline(t)))
	})
}

// TestAllInAFullSession: two callers that want the same two locks of a session with room for two nodes stand in each
// other's way. They begin again after pauses, and get both. A session without room for two refuses them after a few
// tries, and not thousands.
func TestAllInAFullSession(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithMaxNodeBytes(2*nodeBytes(zk, "/a")))
		var tries atomic.Int64
		both := func() error {
			for ; ; tries.Add(1) {
				lease, err := locks.All(deadline(t), client.Mutex("/a"), client.Mutex("/b"))
				if errors.Is(err, locks.ErrSessionFull) {
					continue // as a caller that does not pause
				}
				if err == nil {
					err = lease.Unlock(deadline(t))
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
		awaitNone(t, zk, "/a")
		awaitNone(t, zk, "/b")
		patient.Eventually(t, func() bool { return client.State().NodeBytes == 0 }, "no node weighs anything")
	})
}

// TestAllIsRefused: a session in which the second lock never has room refuses all, after a few tries, and holds nothing.
func TestAllIsRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect(), locks.WithMaxNodeBytes(nodeBytes(zk, "/a")))
		rec := recorder(t, client)
		_, err := locks.All(deadline(t), client.Mutex("/a", locks.WithObserver(rec.PID())), client.Mutex("/b"))
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		const tries = 6
		patient.Eventually(t, func() bool {
			held := slices.DeleteFunc(rec.States(), func(state messages.State) bool { return state != messages.StateHeld })
			return len(held) == tries
		}, "it has had the first so often")
		awaitNone(t, zk, "/a")
	})
}

// TestTransactionsWeigh: ephemeral nodes of transactions weigh as those of locks do, until they are deleted.
func TestTransactionsWeigh(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one := 4 + len(zk.Root()+"/mine-0123456789")
		client := open(t, zk.Connect(), locks.WithMaxNodeBytes(nodeBytes(zk, "/a")+one))
		lease, err := client.Mutex("/a").Lock(deadline(t))
		require.NoError(t, err)
		mine := locks.CreateSequential("/mine-", nil)
		mine.Ephemeral = true
		made, err := lease.Txn(deadline(t), mine)
		require.NoError(t, err)
		_, err = lease.Txn(deadline(t), mine)
		require.ErrorIs(t, err, locks.ErrSessionFull)
		require.True(t, locks.MayPass(err))
		require.True(t, lease.Valid())
		_, err = lease.Txn(deadline(t), locks.CreateSequential("/theirs-", nil))
		require.NoError(t, err, "what outlives the session weighs nothing")
		_, err = lease.Txn(deadline(t), locks.Delete(made[0].Path, locks.AnyVersion))
		require.NoError(t, err)
		_, err = lease.Txn(deadline(t), mine)
		require.NoError(t, err)
		require.Equal(t, client.State().MaxNodeBytes, client.State().NodeBytes)
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}
