package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestQueueWaitsForTheConnection: or for the end of ctx.
func TestQueueWaitsForTheConnection(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		proxy := at.Proxy(t)
		client := open(t, proxy.Addr()+at.Root())
		lease, err := client.Mutex("/cut").Lock(deadline(t))
		require.NoError(t, err)
		proxy.Refuse(true)
		proxy.Cut()
		hurried, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err = client.Queue(hurried, "/cut")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		got := make(chan []messages.Contender, 1)
		go func() {
			all, err := client.Queue(deadline(t), "/cut")
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
	eachServer(t, func(t *testing.T, at *servers) {
		proxy := at.Proxy(t)
		client, other := open(t, proxy.Addr()+at.Root()), open(t, at.Connect())
		lease, err := other.Mutex("/kept").Lock(deadline(t))
		require.NoError(t, err)
		before := client.Session().ID()
		proxy.Hold(true) // no answer comes in this session any more
		got := make(chan []messages.Contender, 1)
		go func() {
			all, err := client.Queue(deadline(t), "/kept")
			if err != nil {
				t.Error(err)
			}
			got <- all
		}()
		eventually(t, func() bool { return proxy.Requests(rig.OpMulti) > 0 }, "it never asked")
		id, password, _ := proxy.Session()
		require.NoError(t, rig.ExpireSession(deadline(t), at.members[0].Addr(), id, password))
		proxy.Cut()
		proxy.Hold(false)
		all := <-got
		require.Len(t, all, 1)
		require.Equal(t, lease.Node(), all[0].Node)
		require.NotEqual(t, before, client.Session().ID())
	})
}
