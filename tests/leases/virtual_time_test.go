package leases

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Hours of holding a lock, with all its heartbeats, in a bubble with a clock of its own: nothing that
// Turnstile does needs real time or a real network.
func TestHoursOfVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		lease := bubble.Locked(t, client.Mutex("/hours").Lock)
		time.Sleep(4 * time.Hour)
		require.True(t, lease.Valid())
		require.NoError(t, lease.Context().Err())
		bubble.GiveBack(t, lease)
	})
}

// The holder's server is cut off from the others, and goes on answering pings. The holder gives the lock up
// on its own, by what it has not heard, before the others end its session and the waiter is served: by the
// bubble's clock, where nothing is late.
func TestLeaseInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t, embedded.WithReplicas(3))
		follower := server.Replica(2)
		require.NotEqual(t, follower, server.Leader())
		lease := bubble.Locked(t, bubble.OpenClient(t, server, follower.Addr()).Mutex("/lease").Lock)
		got := patient.Elsewhere(t.Context(), bubble.OpenClient(t, server, server.Addr()).Mutex("/lease").Lock)
		time.Sleep(20 * time.Second) // a new connection's lease is longer

		cut := time.Now()
		follower.CutOff()
		<-lease.Context().Done()
		given := time.Since(cut)
		require.False(t, lease.Valid())
		require.GreaterOrEqual(t, given, time.Duration(zkconn.SteadyLease*float64(10*time.Second))-time.Second/10)
		require.LessOrEqual(t, given, 5*time.Second)
		a := <-got
		require.NoError(t, a.Err)
		require.Greater(t, time.Since(cut), given)
		require.Greater(t, a.Lease.Token(), lease.Token())
		follower.Rejoin()
	})
}
