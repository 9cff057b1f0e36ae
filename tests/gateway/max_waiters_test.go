package gateway

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestMaxWaitersOverGateway: the bound crosses, and the gateway's session judges it: requests of
// others count, too.
func TestMaxWaitersOverGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		lease := scene.Locked(t, o.over(gateway.At(o.pids[0])).Mutex("/bounded").Lock)
		for _, c := range []*locks.Client{o.client, o.clients[1]} {
			_, err := c.Mutex("/bounded", locks.WithMaxWaiters(1)).Lock(t.Context())
			require.ErrorIs(t, err, locks.ErrQueueFull)
			require.True(t, locks.MayPass(err))
			var of *locks.Error
			require.ErrorAs(t, err, &of)
			require.Equal(t, messages.ReasonQueueFull, of.Reason)
		}
		queued(t, o.clients[1], "/bounded", 1) // a refused call had a node for a moment
		next := scene.Elsewhere(t.Context(), o.client.Mutex("/bounded", locks.WithMaxWaiters(2)).Lock)
		queued(t, o.clients[1], "/bounded", 2)
		scene.GiveBack(t, lease)
		scene.GiveBack(t, scene.Receive(t, next).Lease)
	})
}

// TestMoreCallsThanAGatewayMayQueue: the session of a gateway has 256 nodes that wait in a queue.
// Calls of clients beyond them wait until there is room.
func TestMoreCallsThanAGatewayMayQueue(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		first := scene.Locked(t, o.clients[0].Mutex("/many").Lock)
		var calls sync.WaitGroup
		for range 2 {
			client := o.over(gateway.At(o.pids[0]))
			for range 200 {
				calls.Go(func() {
					if lease, err := client.Mutex("/many").Lock(t.Context()); assert.NoError(t, err) {
						lease.Release()
					}
				})
			}
		}
		time.Sleep(time.Minute)
		require.Len(t, scene.QueueOf(t, o.clients[1], "/many"), 1+256)
		first.Release()
		calls.Wait()
	})
}
