package actors

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestHeldLockHurriesTheConnection: a session that holds a lock connects again within moments, even
// where the usual pauses are long.
func TestHeldLockHurriesTheConnection(t *testing.T) {
	server := embedded.Run(t)
	var dials atomic.Int32
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	handle, inside := spied(t, server, zkconn.WithReconnectBackoff(time.Hour, time.Hour), zkconn.WithDialer(dial))
	lock, rec := spawnRecorded(handle, messages.Acquire{Path: "/urgent"})
	_, err := rec.await(t.Context(), messages.StateHeld, 1)
	require.NoError(t, err)
	inside(func(*session) {}) // it has been told that the lock is held

	server.Replica(0).Refuse(true)
	server.Replica(0).DropClients()
	refused := dials.Load()
	require.Eventually(t, func() bool { return handle.lastCause() != nil }, time.Minute, time.Millisecond)
	// The first try is made at once, held lock or not. It has failed when the next one but one
	// begins.
	require.Eventually(t, func() bool { return dials.Load() > refused+2 }, time.Minute, time.Millisecond)
	server.Replica(0).Refuse(false)
	require.Eventually(t, func() bool { return handle.lastCause() == nil }, time.Minute, time.Millisecond)
	handle.system.Root.Send(lock, &messages.Release{})
	_, err = rec.await(t.Context(), messages.StateReleased, 1)
	require.NoError(t, err)
}
