package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestMaxWaitersOverGateway: the bound crosses, and the gateway's session judges it: requests from
// other nodes count, too.
func TestMaxWaitersOverGateway(t *testing.T) {
	s := newStage(t, patient.Session)
	another := newNode(t)
	s.inside.connect(t, another)
	client, other, direct := s.outside.client(t, s.pid), another.client(t, s.pid), s.direct(t)
	ctx := patient.Deadline(t)
	lease, err := other.Mutex("/bounded").Lock(ctx)
	require.NoError(t, err)
	for _, c := range []*locks.Client{client, direct} {
		_, err = c.Mutex("/bounded", locks.WithMaxWaiters(1)).Lock(ctx)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.True(t, locks.MayPass(err))
		var of *locks.Error
		require.ErrorAs(t, err, &of)
		require.Equal(t, messages.ReasonQueueFull, of.Reason)
	}
	patient.Eventually(t, func() bool { // a refused call had a node for a moment
		queue, err := direct.Queue(ctx, "/bounded")
		return err == nil && len(queue) == 1
	}, "the refused are gone")
	got := make(chan error, 1)
	go func() {
		next, err := client.Mutex("/bounded", locks.WithMaxWaiters(2)).Lock(ctx)
		if err == nil {
			err = next.Unlock(ctx)
		}
		got <- err
	}()
	patient.Eventually(t, func() bool {
		queue, err := direct.Queue(ctx, "/bounded")
		return err == nil && len(queue) == 2
	}, "it waits behind one")
	patient.GiveBack(t, lease)
	require.NoError(t, patient.Receive(t, got))
}

// TestMoreCallsThanAGatewayMayQueue: the session of a gateway has 256 nodes that wait in a queue. Calls of other clients beyond
// them wait until there is room.
func TestMoreCallsThanAGatewayMayQueue(t *testing.T) {
	inOffice(t, func(o *office) {
		first := o.lock(o.t.Context(), o.clients[0].Mutex("/many"))
		var calls sync.WaitGroup
		for range 2 {
			client, err := gateway.Open(o.t.Context(), o.system, gateway.At(o.pids[0]))
			require.NoError(o.t, err)
			defer func() { patient.Closed(o.t, client.Close(context.WithoutCancel(o.t.Context()))) }()
			for range 200 {
				calls.Go(func() {
					wait, stop := context.WithTimeout(o.t.Context(), time.Hour)
					defer stop()
					if lease, err := client.Mutex("/many").Lock(wait); assert.NoError(o.t, err) {
						lease.Release()
					}
				})
			}
		}
		time.Sleep(time.Minute)
		first.Release()
		calls.Wait()
	})
}

// fading is a way to a gateway by which one request comes through, and no reply to it.
func (o *office) fading(to *actor.PID) *actor.PID {
	var passed atomic.Bool
	nobody := o.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	return o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *wire.Query:
			ctx.Forward(to)
		case *wire.Request:
			if !passed.Swap(true) {
				ctx.RequestWithCustomSender(to, msg, nobody)
			}
		}
	}))
}

// TestBoundOnWaitersAndOwnGhost: a request with a bound has its node at a gateway that is not heard any more. The next
// gateway does not refuse it for that node, which goes when the first gives the request up.
func TestBoundOnWaitersAndOwnGhost(t *testing.T) {
	inOffice(t, func(o *office) {
		at := gateway.At(o.fading(o.pids[0]), o.pids[1])
		client, err := gateway.Open(o.t.Context(), o.system, at)
		require.NoError(o.t, err)
		defer func() { _ = client.Close(context.WithoutCancel(o.t.Context())) }()
		lease := o.lock(o.t.Context(), client.Mutex("/bounded", locks.WithMaxWaiters(1)))
		require.Equal(o.t, o.session(1), lease.Session())
		require.NoError(o.t, lease.Unlock(o.t.Context()))
	})
}
