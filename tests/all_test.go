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
