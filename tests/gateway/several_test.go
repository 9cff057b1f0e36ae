package gateway

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// elsewhere has a request go to the second gateway, since the first one is silent for a while. It is
// used from then on.
func (o *office) elsewhere() {
	o.t.Helper()
	o.silent[0].Store(true)
	require.Equal(o.t, o.session(1), scene.Locked(o.t, o.client.Mutex("/elsewhere").Lock).Session())
	o.silent[0].Store(false)
}

// TestGatewayInUse: a request begins at the gateway that has accepted the one before, and does not
// find out again that the first is gone.
func TestGatewayInUse(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		require.Equal(t, o.session(0), scene.Locked(t, o.client.Mutex("/first").Lock).Session())
		o.elsewhere()
		o.silent[0].Store(true)
		begun := time.Now()
		require.Equal(t, o.session(1), scene.Locked(t, o.client.Mutex("/second").Lock).Session())
		require.Less(t, time.Since(begun), 500*time.Millisecond)
	})
}

// TestOwnerStaysAtItsGateway: requests of an owner that holds go to the gateway by which it holds,
// though another one is in use by now: over the other gateway the owner would wait for itself.
func TestOwnerStaysAtItsGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		rw, again := o.client.RWMutex("/rw"), o.client.Mutex("/again", locks.WithReentry())
		writer, outer := scene.Locked(t, rw.Lock), scene.Locked(t, again.Lock)
		plain := scene.Locked(t, o.client.Mutex("/plain").Lock)
		require.Equal(t, o.session(0), plain.Session())
		o.elsewhere()

		begun := time.Now()
		inner, err := again.Lock(outer.Context())
		require.NoError(t, err)
		require.Equal(t, outer.Token(), inner.Token())
		wait, stop := context.WithTimeout(writer.Context(), time.Minute)
		defer stop()
		reader, err := rw.RLock(wait) // a downgrade
		require.NoError(t, err)
		require.Equal(t, writer.Session(), reader.Session())
		require.Equal(t, writer.Token(), reader.Token())
		_, err = o.client.Mutex("/plain").Lock(plain.Context())
		require.ErrorIs(t, err, locks.ErrReentry)
		require.Less(t, time.Since(begun), 500*time.Millisecond)
		scene.GiveBack(t, writer, reader, inner, outer, plain)
	})
}

// TestFullGateway: a gateway that has as many requests as it takes refuses more, which may pass; the
// requester goes to the next one, and ends when each is full. The requests that they have are not
// touched.
func TestFullGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		var leases []*locks.Lease
		for i := range 6 {
			leases = append(leases, scene.Locked(t, o.client.Mutex(fmt.Sprint("/full/", i)).Lock))
			require.Equal(t, o.session(i/3), leases[i].Session())
		}
		_, err := o.client.Mutex("/full/more").Lock(t.Context())
		require.ErrorIs(t, err, locks.ErrFailed)
		require.ErrorContains(t, err, string(messages.ReasonGatewayFull))
		require.ErrorContains(t, err, "it has 3 requests")
		require.True(t, locks.MayPass(err))
		scene.GiveBack(t, leases[1])
		time.Sleep(time.Second) // until the gateway knows that its requester knows
		require.Equal(t, o.session(0), scene.Locked(t, o.client.Mutex("/full/more").Lock).Session())
		for _, lease := range leases[2:] {
			require.True(t, lease.Valid())
		}
	}, gateway.WithMaxRequests(3))
}
