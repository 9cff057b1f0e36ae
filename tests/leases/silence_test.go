package leases

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// A server that goes on reading and does not answer: the holder is told that the lock is in doubt, and when
// it answers in time, that it is not any more.
func TestHeartbeatsUnansweredForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		mutex, rec := patient.Recorded(t, client, "/silence")
		lease := bubble.Locked(t, mutex.Lock)

		server.Replica(0).HoldReplies()
		patient.Await(t, rec, messages.StateRecovering)
		require.True(t, lease.Valid(), "in doubt, and not over yet")
		server.Replica(0).ReleaseReplies()
		patient.Await(t, rec, messages.StateHeld)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateRecovering, messages.StateHeld)
		requireNotices(t, rec, &messages.Held{}, &messages.Suspended{}, &messages.Resumed{})
		bubble.GiveBack(t, lease)
	})
}

// It does not answer in time: the lock is lost at the end of the lease, by the clock, while the connection is up.
func TestHeartbeatsUnansweredForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		mutex, rec := patient.Recorded(t, client, "/silence")
		lease := bubble.Locked(t, mutex.Lock)

		ends := lease.Deadline()
		server.Replica(0).HoldReplies()
		<-lease.Context().Done()
		require.False(t, lease.Valid())
		require.LessOrEqual(t, time.Since(ends), 5*time.Second, "one heartbeat may have been acknowledged since")
		patient.Await(t, rec, messages.StateLost)
		requireNotices(t, rec, &messages.Held{}, &messages.Suspended{}, &messages.Lost{})
		server.Replica(0).ReleaseReplies()
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrLost)
	})
}
