package leases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/late"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestOrphan: a server carries out the create of a lock after its session has moved, has made another node, and has
// given the lock back. Nobody knows the node that is made then. The session finds it, though it asks for nothing
// more, and others have the lock.
func TestOrphan(t *testing.T) {
	t.Parallel()
	e := late.Start(t)
	client := e.Open(locks.WithSessionTimeout(40 * time.Second))
	other := patient.Open(t, e.Addrs())
	cycle := func(client *locks.Client) {
		require.NoError(t, patient.Locked(t, client.Mutex("/orders").Lock).Unlock(patient.Deadline(t)))
	}
	cycle(client) // the lock path is there
	e.Stall()
	granted := make(chan *locks.Lease, 1)
	e.Sent(rig.OpCreate, func() {
		lease, err := client.Mutex("/orders").Lock(patient.Deadline(t))
		if err == nil {
			granted <- lease
		}
	})
	e.Move()
	lease := patient.Receive(t, granted)
	require.NoError(t, lease.Unlock(patient.Deadline(t)))
	cycle(other)

	e.Heal(lease.Session(), []byte("/orders/"))
	nodes, _, err := e.Witness.Children("/orders")
	require.NoError(t, err)
	require.Len(t, nodes, 1, "the late one")
	cycle(other)
	require.EqualValues(t, 1, client.Session().Counters().Unowned)
	require.Zero(t, other.Session().Counters().Unowned)
	cycle(client)
}
