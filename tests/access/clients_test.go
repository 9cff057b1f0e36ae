package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// Helpers that all tests of behaviour share, in any package.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
	recorded   = patient.Recorded
	lock       = patient.LockAt
	unlock     = patient.GiveBack
	queue      = patient.Queue
	wait       = patient.Wait
	await      = patient.Await
)

// bound bounds a wait for something that must come, on a machine of any speed.
var bound = patient.Bound

// use takes a lock and gives it back.
func use(t *testing.T, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	lease := lock(t, client, path)
	require.Equal(t, path, lease.Path())
	require.True(t, lease.Valid())
	unlock(t, lease)
	return lease
}
