package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// office is two gateways in virtual time, each with a session of its own, and a client of both.
type office struct {
	t       *testing.T
	system  *actor.ActorSystem
	clients [2]*locks.Client // with the sessions
	deaf    [2]atomic.Bool   // the gateway hears no request
	pids    []*actor.PID
	at      *gateway.Gateways
	client  *locks.Client
}

// inOffice plays a story. opts are the options of the gateways.
func inOffice(t *testing.T, story func(o *office), opts ...gateway.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		o := &office{t: t, system: bubble.System(t)}
		for i := range o.clients {
			client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
				locks.WithActorSystem(o.system), locks.WithSessionTimeout(patient.Session))
			require.NoError(t, err)
			relists.Count(t, client.Session())
			o.clients[i] = client
			t.Cleanup(func() { patient.Closed(t, client.Close(context.WithoutCancel(t.Context()))) })
			props := gateway.New(client.Session(), opts...).Configure(o.ear(i))
			pid, err := o.system.Root.SpawnNamed(props, fmt.Sprint("gateway-", i))
			require.NoError(t, err)
			o.pids = append(o.pids, pid)
		}
		o.at = gateway.At(o.pids...)
		client, err := gateway.Open(t.Context(), o.system, o.at)
		require.NoError(t, err)
		o.client = client
		t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
		story(o)
	})
}

// ear has a gateway be deaf.
func (o *office) ear(i int) actor.PropsOption {
	return actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			if _, request := env.Message.(*wire.Request); !request || !o.deaf[i].Load() {
				next(c, env)
			}
		}
	})
}

// stop stops a gateway.
func (o *office) stop(i int) { o.system.Root.Stop(o.pids[i]) }

// session gives the session of a gateway.
func (o *office) session(i int) int64 { return o.clients[i].Session().ID() }

// lock locks, at once as far as the clock tells.
func (o *office) lock(ctx context.Context, locker locks.Locker) *locks.Lease {
	o.t.Helper()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	lease, err := locker.Lock(ctx)
	require.NoError(o.t, err)
	return lease
}

// elsewhere has a request go to the second gateway, since the first one is deaf for a while. It is used from then on.
func (o *office) elsewhere() *locks.Lease {
	o.t.Helper()
	o.deaf[0].Store(true)
	lease := o.lock(o.t.Context(), o.client.Mutex("/elsewhere"))
	require.Equal(o.t, o.session(1), lease.Session())
	o.deaf[0].Store(false)
	return lease
}

// TestGatewayInUse: a request begins at the gateway that has accepted the one before, and does not find out again that
// the first is gone.
func TestGatewayInUse(t *testing.T) {
	inOffice(t, func(o *office) {
		first := o.lock(o.t.Context(), o.client.Mutex("/first"))
		require.Equal(o.t, o.session(0), first.Session())
		o.elsewhere()
		o.deaf[0].Store(true)
		for i := range 10 {
			begun := time.Now()
			lease := o.lock(o.t.Context(), o.client.Mutex(fmt.Sprint("/second/", i)))
			require.Less(o.t, time.Since(begun), 500*time.Millisecond)
			require.Equal(o.t, o.session(1), lease.Session())
		}
		_, err := o.client.Queue(o.t.Context(), "/first")
		require.NoError(o.t, err)
	})
}

// TestOwnerStaysAtItsGateway: requests of an owner that holds go to the gateway by which it holds, though another one
// is in use by now: over the other gateway the owner would wait for itself.
func TestOwnerStaysAtItsGateway(t *testing.T) {
	inOffice(t, func(o *office) {
		rw := o.client.RWMutex("/rw")
		writer := o.lock(o.t.Context(), rw)
		again := o.client.Mutex("/again", locks.WithReentry())
		outer := o.lock(o.t.Context(), again)
		plain := o.lock(o.t.Context(), o.client.Mutex("/plain"))
		require.Equal(o.t, o.session(0), plain.Session())
		o.elsewhere()

		begun := time.Now()
		inner := o.lock(outer.Context(), again)
		require.Equal(o.t, outer.Session(), inner.Session())
		require.Equal(o.t, outer.Token(), inner.Token())
		wait, stop := context.WithTimeout(writer.Context(), time.Minute)
		defer stop()
		reader, err := rw.RLock(wait) // a downgrade
		require.NoError(o.t, err)
		require.Equal(o.t, writer.Session(), reader.Session())
		require.Equal(o.t, writer.Token(), reader.Token())
		_, err = o.client.Mutex("/plain").Lock(plain.Context())
		require.ErrorIs(o.t, err, locks.ErrReentry)
		require.Less(o.t, time.Since(begun), 500*time.Millisecond)

		for _, lease := range []*locks.Lease{writer, reader, inner, outer, plain} {
			require.True(o.t, lease.Valid())
			bubble.GiveBack(o.t, lease)
		}
	})
}

// TestFullGateway: a gateway that has as many requests as it takes refuses more, which may pass; the requester goes
// to the next one, and ends when each is full. The requests that they have are not touched.
func TestFullGateway(t *testing.T) {
	inOffice(t, func(o *office) {
		var leases []*locks.Lease
		for i := range 6 {
			leases = append(leases, o.lock(o.t.Context(), o.client.Mutex(fmt.Sprint("/full/", i))))
			require.Equal(o.t, o.session(i/3), leases[i].Session())
		}
		_, err := o.client.Mutex("/full/more").Lock(o.t.Context())
		require.ErrorIs(o.t, err, locks.ErrFailed)
		require.ErrorContains(o.t, err, string(messages.ReasonGatewayFull))
		require.ErrorContains(o.t, err, "it has 3 requests")
		require.True(o.t, locks.MayPass(err))
		for _, lease := range leases {
			require.True(o.t, lease.Valid())
		}
		bubble.GiveBack(o.t, leases[1])
		time.Sleep(time.Second) // until the gateway knows that its requester knows
		lease := o.lock(o.t.Context(), o.client.Mutex("/full/more"))
		require.Equal(o.t, o.session(0), lease.Session())
	}, gateway.WithMaxRequests(3))
}
