package queues

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestQueueWaitsForTheConnection: or for the end of ctx.
func TestQueueWaitsForTheConnection(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		client := patient.Open(t, proxy.Addr()+at.Root())
		lease := patient.Locked(t, client.Mutex("/cut").Lock)
		proxy.Refuse(true)
		proxy.Cut()
		hurried, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := client.Queue(hurried, "/cut")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		got := make(chan []messages.Contender, 1)
		go func() {
			all, err := client.Queue(patient.Deadline(t), "/cut")
			if err != nil {
				t.Error(err)
			}
			got <- all
		}()
		proxy.Refuse(false)
		all := <-got
		require.Len(t, all, 1)
		require.Equal(t, lease.Node(), all[0].Node)
	})
}

// TestQueueOutlastsTheSession: what was asked in one session is answered in the next.
func TestQueueOutlastsTheSession(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		client, other := patient.Open(t, proxy.Addr()+at.Root()), at.Open(t)
		lease := patient.Locked(t, other.Mutex("/kept").Lock)
		before := client.Session().ID()
		proxy.Hold(true) // no answer comes in this session any more
		got := make(chan []messages.Contender, 1)
		go func() {
			all, err := client.Queue(patient.Deadline(t), "/kept")
			if err != nil {
				t.Error(err)
			}
			got <- all
		}()
		patient.Eventually(t, func() bool { return proxy.Requests(rig.OpMulti) > 0 }, "it never asked")
		id, password, _ := proxy.Session()
		require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
		proxy.Cut()
		proxy.Hold(false)
		all := <-got
		require.Len(t, all, 1)
		require.Equal(t, lease.Node(), all[0].Node)
		require.NotEqual(t, before, client.Session().ID())
	})
}
