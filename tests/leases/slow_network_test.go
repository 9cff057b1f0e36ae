package leases

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
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

// TestLeaseOnASlowNetwork: round trips take a thirtieth of the session timeout. A request that is
// granted its lock on the evidence of an idle session keeps it, at any time between two of its
// pings.
func TestLeaseOnASlowNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 3 * time.Second
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(timeout/2))
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithSessionTimeout(timeout),
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := server.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return slowly(conn, func() time.Duration { return timeout / 60 }), nil
			}))
		require.NoError(t, err)
		relists.Count(t, client.Session())
		defer func() {
			patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		}()
		for phase := range 40 {
			time.Sleep(10*time.Second + time.Duration(phase)*timeout/40)
			lease, err := client.Mutex("/slow").Lock(t.Context())
			require.NoError(t, err)
			select {
			case <-lease.Context().Done():
				t.Errorf("phase %d: %v", phase, context.Cause(lease.Context()))
			case <-time.After(5 * timeout):
			}
			_ = lease.Unlock(t.Context())
		}
	})
}
