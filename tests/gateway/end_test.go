package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestBrokenLeaseIsLost: an owner whose lease has a gap is told that the lock is lost, though the
// gateway promises more and more.
func TestBrokenLeaseIsLost(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		a := o.asks(messages.Acquire{Path: "/gap"})
		held := a.hears().(*messages.Held)
		clock := o.at.Clock(held.Epoch)
		require.True(t, clock.Unbroken(held.Term))
		clock.End() // stands for any gap: the run in which the lock was granted is over
		a.send(&wire.Reply{Version: wire.Version, Id: "something happens"})
		require.Equal(t, messages.ReasonLeaseOver, a.hears().(*messages.Lost).Reason)
		scene.Cycle(t, o.clients[1].Mutex("/gap"))
	})
}

// TestGatewayEndsWithSession: a gateway whose session has ended for good stops.
func TestGatewayEndsWithSession(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		lease := scene.Locked(t, o.client.Mutex("/ends").Lock)
		o.system.Root.Stop(o.clients[0].Session().PID())
		scene.AwaitLost(t, lease)
		ended(t, o.system, o.pids[0])
	})
}

// TestClosedGatewayMayPass: a gateway that is closed does not look to a client as if the client
// were closed: a client that tries again may find another gateway at its address.
func TestClosedGatewayMayPass(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		client, other := o.over(gateway.At(o.pids[0])), o.clients[1]
		scene.Locked(t, client.Mutex("/held").Lock) // so that the gateway has something to wait for
		scene.Locked(t, other.Mutex("/waits").Lock)
		waiter := scene.Elsewhere(t.Context(), client.Mutex("/waits").Lock)
		queued(t, other, "/waits", 2)
		go func() { _ = o.clients[0].Close(context.WithoutCancel(t.Context())) }()
		err := scene.Receive(t, waiter).Err
		require.NotErrorIs(t, err, locks.ErrClosed)
		require.NotErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, locks.ErrFailed)
		require.True(t, locks.MayPass(err), err)
	})
}

// TestAskEndsWithClient: a query that no gateway answers ends with the client.
func TestAskEndsWithClient(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		for _, pid := range o.pids {
			stopped(t, o.system, pid)
		}
		over := make(chan error, 1)
		go func() {
			_, err := o.client.Queue(context.WithoutCancel(t.Context()), "/nobody-answers")
			over <- err
		}()
		time.Sleep(time.Hour)
		require.Empty(t, over)
		require.NoError(t, o.client.Close(t.Context()))
		require.ErrorIs(t, scene.Receive(t, over), locks.ErrClosed)
	})
}

// TestSessionFileIsRefused: a process that is started again after a crash would close its
// predecessor's session, whose promises to other nodes still run.
func TestSessionFileIsRefused(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		client := scene.ClientAt(t, o.server, o.server.Connect(), locks.WithActorSystem(o.system), locks.WithSessionFile(t.TempDir()+"/session"))
		_, err := gateway.Spawn(o.system, client.Session(), "with-a-file")
		require.ErrorIs(t, err, gateway.ErrSessionFile)
		pid := o.system.Root.Spawn(gateway.New(client.Session()))
		refused := o.asksAt(gateway.At(pid), messages.Acquire{Path: "/a"}).hears().(*messages.Failed)
		require.Contains(t, refused.Detail, gateway.ErrSessionFile.Error())
	})
}

// TestTroubleOverGateway: the requester is told on which request the gateway's server hangs up, in the
// error of a Lock and of an Unlock.
func TestTroubleOverGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		lease := scene.Locked(t, o.client.Mutex("/y").Lock)
		for _, fault := range []embedded.Fault{{Path: "/x/_c_*"}, {Path: "/y/_c_*", Op: embedded.OpDelete}} {
			fault.Action, fault.Count = embedded.CutBefore, -1
			injected, err := o.server.Inject(fault)
			require.NoError(t, err)
			defer injected.Remove()
		}
		for op, ask := range map[string]func(context.Context) error{
			`create( counted)? /x`: func(ctx context.Context) error { _, err := o.client.Mutex("/x").Lock(ctx); return err },
			`delete /y`:            lease.Unlock,
		} {
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			defer stop()
			err := ask(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var why *locks.Error
			require.ErrorAs(t, err, &why)
			require.Regexp(t, `^the server hangs up on `+op+`/_c_\S+, \d+ times$`, why.Detail)
		}
	})
}
