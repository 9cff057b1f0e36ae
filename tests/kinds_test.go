package tests

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestReadersHoldTogether: readers hold together, a writer alone, and nobody overtakes.
func TestReadersHoldTogether(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		r1, err := one.RWMutex("/rw").RLock(deadline(t))
		require.NoError(t, err)
		r2, err := two.RWMutex("/rw").RLock(deadline(t))
		require.NoError(t, err)
		_, err = one.RWMutex("/rw").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		writes := recorder(t, one)
		w := elsewhere(deadline(t), one.RWMutex("/rw", locks.WithObserver(writes.PID())).Lock)
		await(t, writes, messages.StateWatching)
		_, err = two.RWMutex("/rw").TryRLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "a reader behind a waiting writer does not overtake it")

		require.NoError(t, r1.Unlock(deadline(t)))
		require.True(t, r2.Valid())
		require.NoError(t, r2.Unlock(deadline(t)))
		got := receive(t, w)
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), r2.Token())
		_, err = two.RWMutex("/rw").TryRLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, got.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/rw")
	})
}

// TestWriterThatBecomesAReader: nobody comes in between.
func TestWriterThatBecomesAReader(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		w, err := one.RWMutex("/down").Lock(deadline(t))
		require.NoError(t, err)
		writes := recorder(t, two)
		waiting := elsewhere(deadline(t), two.RWMutex("/down", locks.WithObserver(writes.PID())).Lock)
		await(t, writes, messages.StateWatching)

		r, err := w.Downgrade(deadline(t))
		require.NoError(t, err)
		require.Equal(t, w.Token(), r.Token())
		require.Error(t, w.Context().Err())
		_, err = writes.AwaitNth(deadline(t), messages.StateWatching, 2) // it has seen the writer go, and found the reader
		require.NoError(t, err)
		reader, err := one.RWMutex("/down").TryRLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "behind the writer that waits")
		require.Nil(t, reader)
		require.NoError(t, r.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.NoError(t, got.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/down")
	})
}

// TestSemaphoreHoldsNoMoreThanItHas: with many contenders over several sessions.
func TestSemaphoreHoldsNoMoreThanItHas(t *testing.T) {
	const permits, sessions, each = 5, 4, 25
	eachServer(t, func(t *testing.T, zk *servers) {
		var mu sync.Mutex
		var holding, most int
		var order []int64
		var all sync.WaitGroup
		for range sessions {
			client := open(t, zk.Connect())
			for range each {
				all.Go(func() {
					lease, err := client.Semaphore("/sem", permits).Acquire(deadline(t), 1)
					if !assert.NoError(t, err) {
						return
					}
					mu.Lock()
					holding++
					most = max(most, holding)
					order = append(order, int64(lease.Token()))
					holding--
					mu.Unlock()
					assert.NoError(t, lease.Unlock(deadline(t)))
				})
			}
		}
		all.Wait()
		require.Len(t, order, sessions*each)
		require.LessOrEqual(t, most, permits)
		awaitNone(t, zk, "/sem")
	})
}

// TestContest: whoever makes the node holds.
func TestContest(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		lease, err := one.Contest("/deep/contest").Lock(deadline(t))
		require.NoError(t, err)
		_, err = two.Contest("/deep/contest").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		waiting := elsewhere(deadline(t), two.Contest("/deep/contest").Lock)
		require.NoError(t, lease.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), lease.Token())
		require.NoError(t, got.lease.Unlock(deadline(t)))
	})
}

// TestReentry: within a lease the same lock is refused, or counted.
func TestReentry(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		outer, err := client.Mutex("/again").Lock(deadline(t))
		require.NoError(t, err)
		_, err = client.Mutex("/again").Lock(outer.Context())
		require.ErrorIs(t, err, locks.ErrReentry)
		inner, err := client.Mutex("/again", locks.WithReentry()).Lock(outer.Context())
		require.NoError(t, err)
		require.Equal(t, outer.Token(), inner.Token())
		require.NoError(t, outer.Unlock(deadline(t)))
		require.True(t, inner.Valid())
		_, err = open(t, zk.Connect()).Mutex("/again").TryLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, inner.Unlock(deadline(t)))
		require.ErrorIs(t, inner.Unlock(deadline(t)), locks.ErrNotHeld)
		awaitNone(t, zk, "/again")
	})
}
