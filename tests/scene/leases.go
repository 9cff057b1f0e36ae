package scene

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// ErrOfWork is the error of work that fails.
var ErrOfWork = errors.New("of the work")

// Locked gives the lease of a Lock that must succeed.
func Locked(t testing.TB, lock func(context.Context) (*locks.Lease, error)) *locks.Lease {
	t.Helper()
	lease, err := lock(Deadline(t))
	require.NoError(t, err)
	return lease
}

// GiveBack gives leases back, each of which must be valid yet.
func GiveBack(t testing.TB, leases ...*locks.Lease) {
	t.Helper()
	for _, l := range leases {
		require.NoError(t, l.Unlock(Deadline(t)))
	}
}

// Cycle locks and unlocks.
func Cycle(t *testing.T, m *locks.Mutex) (node string, token messages.Token) {
	t.Helper()
	lease := Locked(t, m.Lock)
	require.True(t, lease.Valid())
	GiveBack(t, lease)
	require.False(t, lease.Valid())
	require.ErrorIs(t, lease.Unlock(Deadline(t)), locks.ErrNotHeld)
	return lease.Node(), lease.Token()
}

// QueueOf looks into a lock path.
func QueueOf(t *testing.T, client *locks.Client, path string) []messages.Contender {
	t.Helper()
	all, err := client.Queue(Deadline(t), path)
	require.NoError(t, err)
	return all
}

// AwaitLost waits until a holder is told that it has lost the lock.
func AwaitLost(t *testing.T, lease *locks.Lease) {
	t.Helper()
	select {
	case <-lease.Context().Done():
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
	case <-time.After(Bound):
		t.Fatalf("the holder of %s never hears that it was broken", lease.Path())
	}
}

// AwaitAsked waits until a holder is told that somebody asks.
func AwaitAsked(t *testing.T, lease *locks.Lease) {
	t.Helper()
	select {
	case <-lease.Revoked():
	case <-time.After(Bound):
		t.Fatalf("the holder of %s is never asked", lease.Path())
	}
}

// CatchUp makes sure that a client has been sent what came of everything that was done before, by anybody: its
// own write comes behind it, and the answer behind the events.
func CatchUp(t *testing.T, client *locks.Client) {
	t.Helper()
	GiveBack(t, Locked(t, client.Mutex("/settle").Lock))
}
