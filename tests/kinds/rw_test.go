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
		r1 := patient.Locked(t, one.RWMutex("/rw").RLock)
		r2 := patient.Locked(t, two.RWMutex("/rw").RLock)
		_, err := one.RWMutex("/rw").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		writes := patient.Recorder(t, one)
		w := patient.Elsewhere(patient.Deadline(t), one.RWMutex("/rw", locks.WithObserver(writes.PID())).Lock)
		patient.Await(t, writes, messages.StateWatching)
		_, err = two.RWMutex("/rw").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "a reader behind a waiting writer does not overtake it")

		patient.GiveBack(t, r1)
		require.True(t, r2.Valid())
		patient.GiveBack(t, r2)
		got := patient.Receive(t, w)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), r2.Token())
		_, err = two.RWMutex("/rw").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		patient.GiveBack(t, got.Lease)
		stories.AwaitNone(t, zk, "/rw")
	})
}

// TestWriterThatBecomesAReader: nobody comes in between.
func TestWriterThatBecomesAReader(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		w := patient.Locked(t, one.RWMutex("/down").Lock)
		writes := patient.Recorder(t, two)
		waiting := patient.Elsewhere(patient.Deadline(t), two.RWMutex("/down", locks.WithObserver(writes.PID())).Lock)
		patient.Await(t, writes, messages.StateWatching)

		r := patient.Locked(t, w.Downgrade)
		require.Equal(t, w.Token(), r.Token())
		require.Error(t, w.Context().Err())
		_, err := writes.AwaitNth(patient.Deadline(t), messages.StateWatching, 2) // it has seen the writer go, and found the reader
		require.NoError(t, err)
		reader, err := one.RWMutex("/down").TryRLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "behind the writer that waits")
		require.Nil(t, reader)
		patient.GiveBack(t, r)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		patient.GiveBack(t, got.Lease)
		stories.AwaitNone(t, zk, "/down")
	})
}
