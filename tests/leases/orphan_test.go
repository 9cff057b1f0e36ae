package leases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/late"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestRealOrphan: a server carries out the create of a lock after its session has moved, has made another node, and has
// given the lock back. Nobody knows the node that is made then. The session finds it, though it asks for nothing
// more, and others have the lock.
func TestRealOrphan(t *testing.T) {
	t.Parallel()
	e := late.Start(t)
	client := e.Open(locks.WithSessionTimeout(40 * time.Second)) // it looks every 20 s
	other := patient.Open(t, e.Addrs())
	cycle := func(client *locks.Client) {
		patient.GiveBack(t, patient.Locked(t, client.Mutex("/orders").Lock))
	}
	cycle(client) // the lock path is there
	e.Stall()
	granted := make(chan patient.Answer, 1)
	e.Sent("/orders/", func() {
		lease, err := client.Mutex("/orders").Lock(patient.Deadline(t))
		granted <- patient.Answer{Lease: lease, Err: err}
	})
	e.Move()
	got := patient.Receive(t, granted)
	require.NoError(t, got.Err)
	patient.GiveBack(t, got.Lease)
	cycle(other)

	e.Heal()
	cycle(other)
	patient.Eventually(t, func() bool { return client.Session().Counters().Unowned == 1 }, "the session counts the late node")
	require.Zero(t, other.Session().Counters().Unowned)
	cycle(client)
}
