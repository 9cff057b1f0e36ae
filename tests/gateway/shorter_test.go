package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A reconnect of a gateway's session is granted a quarter of its timeout, and then nothing of the gateway reaches the
// servers any more. Its requester's lease is shortened with the gateway's own, and is over before the servers let the
// next in.
func TestShorterTimeoutOfAGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const session, shorter = 40 * time.Second, 10 * time.Second
		server := bubble.Server(t, embedded.WithReplicas(3),
			embedded.WithSessionTimeouts(2*time.Second, session))
		first, second := server.Replica(1), server.Replica(2)
		second.SetSessionTimeouts(2*time.Second, shorter)
		second.Refuse(true)
		system := bubble.System(t)
		inside, err := locks.Open(t.Context(), first.Addr()+","+second.Addr(), locks.WithDialer(server.DialContext),
			locks.WithActorSystem(system), locks.WithSessionTimeout(session))
		require.NoError(t, err)
		relists.Count(t, inside.Session())
		t.Cleanup(func() { patient.Closed(t, inside.Close(context.WithoutCancel(t.Context()))) })
		other, err := locks.Open(t.Context(), server.Replica(0).Addr(), locks.WithDialer(server.DialContext),
			locks.WithActorSystem(system), locks.WithSessionTimeout(session))
		require.NoError(t, err)
		relists.Count(t, other.Session())
		t.Cleanup(func() { patient.Closed(t, other.Close(context.WithoutCancel(t.Context()))) })
		pid, err := gateway.Spawn(system, inside.Session(), "gateway")
		require.NoError(t, err)
		requester, err := gateway.Open(t.Context(), system, gateway.At(pid))
		require.NoError(t, err)
		t.Cleanup(func() { _ = requester.Close(context.WithoutCancel(t.Context())) })

		lease := bubble.Locked(t, requester.Mutex("/shorter").Lock)
		time.Sleep(session)
		require.True(t, lease.Valid())
		next := elsewhere(t.Context(), other.Mutex("/shorter"))
		synctest.Wait()

		second.Refuse(false)
		first.Refuse(true)
		first.DropClients()
		for inside.State().Server != second.Addr() {
			time.Sleep(10 * time.Millisecond)
		}
		second.HoldRequests()
		cut := time.Now()
		got := await(t, next)
		valid := lease.Valid()
		require.NoError(t, got.err)
		t.Logf("the next holds %v after the cut", time.Since(cut))
		require.False(t, valid, "two valid leases")
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		second.ReleaseRequests()
		bubble.GiveBack(t, got.lease)
		lease = bubble.Locked(t, requester.Mutex("/shorter").Lock)
		bubble.GiveBack(t, lease)
	})
}
