package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReadersHoldTogether: readers hold together, a writer alone, and nobody overtakes.
func TestReadersHoldTogether(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		r1, err := one.RWMutex("/rw").RLock(patient.Deadline(t))
		require.NoError(t, err)
		r2, err := two.RWMutex("/rw").RLock(patient.Deadline(t))
		require.NoError(t, err)
		_, err = one.RWMutex("/rw").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		writes := patient.Recorder(t, one)
		w := patient.Elsewhere(patient.Deadline(t), one.RWMutex("/rw", locks.WithObserver(writes.PID())).Lock)
		patient.Await(t, writes, messages.StateWatching)
		_, err = two.RWMutex("/rw").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "a reader behind a waiting writer does not overtake it")

		require.NoError(t, r1.Unlock(patient.Deadline(t)))
		require.True(t, r2.Valid())
		require.NoError(t, r2.Unlock(patient.Deadline(t)))
		got := patient.Receive(t, w)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), r2.Token())
		_, err = two.RWMutex("/rw").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
		stories.AwaitNone(t, zk, "/rw")
	})
}

// TestWriterThatBecomesAReader: nobody comes in between.
func TestWriterThatBecomesAReader(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		w, err := one.RWMutex("/down").Lock(patient.Deadline(t))
		require.NoError(t, err)
		writes := patient.Recorder(t, two)
		waiting := patient.Elsewhere(patient.Deadline(t), two.RWMutex("/down", locks.WithObserver(writes.PID())).Lock)
		patient.Await(t, writes, messages.StateWatching)

		r, err := w.Downgrade(patient.Deadline(t))
		require.NoError(t, err)
		require.Equal(t, w.Token(), r.Token())
		require.Error(t, w.Context().Err())
		_, err = writes.AwaitNth(patient.Deadline(t), messages.StateWatching, 2) // it has seen the writer go, and found the reader
		require.NoError(t, err)
		reader, err := one.RWMutex("/down").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "behind the writer that waits")
		require.Nil(t, reader)
		require.NoError(t, r.Unlock(patient.Deadline(t)))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
		stories.AwaitNone(t, zk, "/down")
	})
}
