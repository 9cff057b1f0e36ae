package tests

import (
	"testing"

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
