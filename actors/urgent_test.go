package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestHeldLockHurriesTheConnection: a session that holds something connects again within moments, whatever the
// usual waits are.
func TestHeldLockHurriesTheConnection(t *testing.T) {
	server := embedded.Run(t)
	handle, inside := spied(t, server, zkconn.WithReconnectBackoff(time.Hour, time.Hour))
	rec := actorstest.NewRecorder(handle.system)
	defer rec.Close()
	lock := handle.system.Root.Spawn(NewLock(handle, messages.Acquire{Path: "/urgent"}, WithObserver(rec.PID())))
	_, err := rec.Await(t.Context(), messages.StateHeld)
	require.NoError(t, err)
	inside(func(*session) {}) // it has been told that the lock is held

	server.Replica(0).Refuse(true)
	server.Replica(0).DropClients()
	require.Eventually(t, func() bool { return handle.lastCause() != nil }, time.Minute, time.Millisecond)
	time.Sleep(100 * time.Millisecond) // so that the first try, which is made at once, fails
	server.Replica(0).Refuse(false)
	require.Eventually(t, func() bool { return handle.lastCause() == nil }, 10*time.Second, time.Millisecond)
	handle.system.Root.Send(lock, &messages.Release{})
	_, err = rec.Await(t.Context(), messages.StateReleased)
	require.NoError(t, err)
}
