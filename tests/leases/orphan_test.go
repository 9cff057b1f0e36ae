package leases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRealOrphan: a server carries out the create of a lock after its session has moved, has made another node, and has
// given the lock back. Nobody knows the node that is made then. The session finds it, though it asks for nothing
// more, and others have the lock.
func TestRealOrphan(t *testing.T) {
	t.Parallel()
	e := scene.StartLate(t)
	client := e.Open(locks.WithSessionTimeout(40 * time.Second)) // it looks every 20 s
	other := scene.Open(t, e.Addrs())
	cycle := func(client *locks.Client) {
		scene.GiveBack(t, scene.Locked(t, client.Mutex("/orders").Lock))
	}
	cycle(client) // the lock path is there
	e.Stall()
	granted := make(chan scene.Answer, 1)
	e.Sent("/orders/", func() {
		lease, err := client.Mutex("/orders").Lock(scene.Deadline(t))
		granted <- scene.Answer{Lease: lease, Err: err}
	})
	e.Move()
	got := scene.Receive(t, granted)
	require.NoError(t, got.Err)
	scene.GiveBack(t, got.Lease)
	cycle(other)

	e.Heal()
	cycle(other)
	scene.Eventually(t, func() bool { return client.Session().Counters().Unowned == 1 }, "the session counts the late node")
	require.Zero(t, other.Session().Counters().Unowned)
	cycle(client)
}
