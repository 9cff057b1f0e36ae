package tests

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// any four locks of different kinds.
func fourLocks(client *locks.Client, opts ...locks.LockOption) []locks.Locker {
	return []locks.Locker{
		client.Mutex("/all/b", opts...),
		client.RWMutex("/all/a", opts...).Reader(),
		client.Semaphore("/all/d", 3, opts...).Weight(2),
		client.Contest("/all/c", opts...),
	}
}

// TestAllNeverDeadlocks: callers name the same locks in any order.
func TestAllNeverDeadlocks(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		clients := []*locks.Client{open(t, zk.Connect()), open(t, zk.Connect())}
		var holding sync.Mutex
		var all sync.WaitGroup
		for worker := range 6 {
			all.Go(func() {
				for range 5 {
					named := fourLocks(clients[worker%2])
					rand.Shuffle(len(named), func(i, j int) { named[i], named[j] = named[j], named[i] })
					leases, err := locks.All(deadline(t), named...)
					if !assert.NoError(t, err) {
						return
					}
					assert.True(t, holding.TryLock(), "two hold all")
					assert.True(t, leases.Valid())
					assert.Len(t, leases.Each(), len(named))
					holding.Unlock()
					assert.NoError(t, leases.Unlock(deadline(t)))
				}
			})
		}
		all.Wait()
		awaitNone(t, zk, "/all/a")
		awaitNone(t, zk, "/all/b")
		awaitNone(t, zk, "/all/d")
	})
}

// TestAllGivesBack what it has when one cannot be had, or the caller goes.
func TestAllGivesBack(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		last, err := one.Mutex("/back/z").Lock(deadline(t))
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(deadline(t))
		rec := recorder(t, two)
		got := make(chan error, 1)
		go func() {
			_, err := locks.All(ctx, two.Mutex("/back/z", locks.WithObserver(rec.PID())), two.Mutex("/back/a"))
			got <- err
		}()
		await(t, rec, messages.StateWatching)
		_, err = one.Mutex("/back/a").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "the first of the two is held while the last is waited for")
		cancel()
		require.ErrorIs(t, <-got, context.Canceled)
		lease, err := one.Mutex("/back/a").Lock(deadline(t))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))

		_, err = locks.All(deadline(t), two.Mutex("/back/a"), two.Semaphore("/back/s", 2).Weight(3))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		awaitNone(t, zk, "/back/a")
		require.NoError(t, last.Unlock(deadline(t)))
	})
}

// TestAllIsLostAsAWhole: one lock is lost, the others are given back.
func TestAllIsLostAsAWhole(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		leases, err := locks.All(deadline(t), one.Mutex("/whole/b"), two.RWMutex("/whole/a"), one.Mutex("/whole/c"))
		require.NoError(t, err)
		require.True(t, leases.Deadline().After(leases.Each()[0].Deadline().AddDate(-1, 0, 0)))
		broken := leases.Each()[1]
		require.Equal(t, "/whole/b", broken.Path())
		require.NoError(t, zk.Raw(t).Delete(zk.Root()+broken.Path()+"/"+broken.Node(), -1))
		<-leases.Context().Done()
		require.ErrorIs(t, context.Cause(leases.Context()), locks.ErrLost)
		require.False(t, leases.Valid())
		for _, path := range []string{"/whole/a", "/whole/b", "/whole/c"} {
			lease, err := two.RWMutex(path).Lock(deadline(t))
			require.NoError(t, err)
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		require.ErrorIs(t, leases.Unlock(deadline(t)), locks.ErrLost)
	})
}

func TestAllOfNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		_, err := locks.All(deadline(t))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		_, err = locks.All(deadline(t), client.Mutex("/x"), nil)
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		_, err = locks.All(deadline(t), client.Mutex("/x"), client.Mutex("/y"), client.RWMutex("/x").Reader())
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		require.ErrorContains(t, err, "/x")
		_, err = locks.All(deadline(t), client.Semaphore("/x", 1).Weight(0))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		leases, err := locks.All(deadline(t), client.Mutex("/x"), client.Mutex("/x", locks.WithName("other")))
		require.NoError(t, err, "two queues of one lock path are two locks")
		require.NoError(t, leases.Unlock(deadline(t)))
		require.ErrorIs(t, leases.Unlock(deadline(t)), locks.ErrNotHeld)
	})
}

// TestAllAgreeWhateverTheirChroots: programs that know the same locks by different paths take them in
// one order, so that none waits for another in a circle. Here that order is not the one of the paths
// as the first program names them: /m, /z.
func TestAllAgreeWhateverTheirChroots(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		outer, inner := open(t, zk.Connect()), open(t, zk.Connect()+"/a")
		first, err := inner.Mutex("/z").Lock(deadline(t))
		require.NoError(t, err)

		got := make(chan *locks.Leases, 1)
		go func() {
			leases, err := locks.All(deadline(t), outer.Mutex("/m"), inner.Mutex("/z"))
			assert.NoError(t, err)
			got <- leases
		}()
		awaitCount(t, zk, "/a/z", 2)
		program := newStage(t, zk.Connect())
		asActor := program.spawnAll(t, messages.Acquire{Path: "/m"}, messages.Acquire{Path: "/a/z"})
		awaitCount(t, zk, "/a/z", 3)
		require.Empty(t, zk.Children(t, zk.Raw(t), "/m"), "what comes later in the order is not asked for yet")

		require.NoError(t, first.Unlock(deadline(t)))
		leases := <-got
		require.NotNil(t, leases)
		require.Equal(t, []string{"/z", "/m"}, []string{leases.Each()[0].Path(), leases.Each()[1].Path()})
		require.NoError(t, leases.Unlock(deadline(t)))
		held := notice[*messages.AllHeld](t, asActor).Locks
		require.Equal(t, []string{"/a/z", "/m"}, []string{held[0].Path, held[1].Path})
		asActor.send(&messages.Release{})
		notice[*messages.AllReleased](t, asActor)
	})
}

// TestAllSendNothingWhenOneIsBad: the locks that come before it are not taken for nothing.
func TestAllSendNothingWhenOneIsBad(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		rec := recorder(t, client)
		_, err := locks.All(deadline(t), client.Mutex("/good", observedBy(rec)), client.Semaphore("/poor", 2).Weight(3))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		require.ErrorContains(t, err, "/poor")
		_, err = locks.All(deadline(t), client.Mutex("/good", observedBy(rec)), client.Mutex("bad"))
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		require.Empty(t, rec.Transitions())
	})
}
