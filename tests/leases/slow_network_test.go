package leases

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// slowly makes a connection on which everything arrives later, by the delay at the time of sending.
func slowly(conn net.Conn, delay func() time.Duration) net.Conn {
	near, middle := net.Pipe()
	carry := func(from, to net.Conn) {
		type parcel struct {
			due   time.Time
			bytes []byte
		}
		parcels := make(chan parcel, 1000)
		go func() {
			defer to.Close()
			for p := range parcels {
				time.Sleep(time.Until(p.due))
				if _, err := to.Write(p.bytes); err != nil {
					_ = from.Close()
				}
			}
		}()
		defer close(parcels)
		for {
			bytes := make([]byte, 4096)
			n, err := from.Read(bytes)
			if err != nil {
				return
			}
			parcels <- parcel{time.Now().Add(delay()), bytes[:n]}
		}
	}
	go carry(middle, conn)
	go carry(conn, middle)
	return near
}

// slowDialer has everything arrive later, by the delay at the time of sending.
func slowDialer(server *embedded.Server, delay func() time.Duration) locks.Option {
	return locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := server.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return slowly(conn, delay), nil
	})
}

// TestLeaseOnASlowNetwork: round trips take a thirtieth of the session timeout. A request that is
// granted its lock on the evidence of an idle session keeps it, at any time between two of its
// pings.
func TestLeaseOnASlowNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 3 * time.Second
		server := scene.Virtual(t, embedded.WithTick(timeout/2))
		client := scene.Client(t, server, locks.WithSessionTimeout(timeout),
			slowDialer(server, func() time.Duration { return timeout / 60 }))
		for phase := range 40 {
			time.Sleep(10*time.Second + time.Duration(phase)*timeout/40)
			lease := scene.Locked(t, client.Mutex("/slow").Lock)
			select {
			case <-lease.Context().Done():
				t.Errorf("phase %d: %v", phase, context.Cause(lease.Context()))
			case <-time.After(5 * timeout):
			}
			_ = lease.Unlock(t.Context())
		}
	})
}

// TestQuickServersEndAPause: servers are so slow for some minutes that each session lapses, and are quick again then. A
// waiter whose next session was to begin much later is granted its lock soon after, and not when that pause is over.
func TestQuickServersEndAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		holder := scene.Client(t, server)
		var delay atomic.Int64
		client := scene.Client(t, server, slowDialer(server, func() time.Duration { return time.Duration(delay.Load()) }))
		for round := range 5 {
			lease := scene.Locked(t, holder.Mutex("/slow").Lock)
			delay.Store(int64(timeout / 8)) // a round trip takes a quarter
			mutex, rec := scene.Recorded(t, client, "/slow")
			waiting := scene.Elsewhere(t.Context(), mutex.Lock)
			scene.Await(t, rec, messages.StateWatching)
			time.Sleep(20 * timeout)
			for !client.State().Lapsed {
				time.Sleep(timeout / 10)
			}
			time.Sleep(timeout) // it has been replaced if it was to be at once
			require.True(t, client.State().Lapsed)

			delay.Store(0)
			quick := time.Now()
			scene.GiveBack(t, lease)
			got := scene.Receive(t, waiting)
			require.NoError(t, got.Err)
			require.LessOrEqual(t, time.Since(quick), timeout+2*time.Second, "round %d", round)
			require.True(t, got.Lease.Valid())
			scene.GiveBack(t, got.Lease)
		}
	})
}
