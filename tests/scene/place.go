package scene

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// Place is a node that holders write under a lock.
const Place = "/value"

// WritePlace makes the node under a lock of another name.
func WritePlace(t *testing.T, client *locks.Client) {
	t.Helper()
	lease := Locked(t, client.Mutex("/setup").Lock)
	_, err := lease.Txn(t.Context(), locks.Create(Place, []byte("first")))
	require.NoError(t, err)
	GiveBack(t, lease)
}

// Swap writes the place at a version.
func Swap(ctx context.Context, lease *locks.Lease, to string, version int32) error {
	_, err := lease.Txn(ctx, locks.Set(Place, []byte(to), version))
	return err
}

// RequireAt finds the version of the place, and so how often it was written.
func RequireAt(t *testing.T, client *locks.Client, version int32) {
	t.Helper()
	lease := Locked(t, client.Mutex("/setup").Lock)
	_, err := lease.Txn(t.Context(), locks.Check(Place, version))
	require.NoError(t, err)
	GiveBack(t, lease)
}
