package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	queue, err := direct.Queue(ctx, "/bounded")
	require.NoError(t, err)
	require.Len(t, queue, 1)
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
	require.NoError(t, lease.Unlock(ctx))
	require.NoError(t, patient.Receive(t, got))
}
