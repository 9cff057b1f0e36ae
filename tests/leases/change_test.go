package leases

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestOnChange: an outage that is survived, a revoke request, and an outage that is not are told in order, each with the
// time that is left; a listener that takes its time delays nothing but itself.
func TestOnChange(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Minute} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, client := scene.Through(t)
				other := scene.Client(t, d.Server)
				h := &scene.Changes{Slow: slow}
				lease := scene.Locked(t, client.Mutex("/change", locks.WithOnChange(h.Hear), locks.WithGrace(time.Hour)).Lock)
				time.Sleep(time.Minute)
				d.Outage(time.Second)
				time.Sleep(time.Minute)
				require.True(t, lease.Valid())
				asked := time.Now()
				_, err := other.Revoke(t.Context(), "/change")
				require.NoError(t, err)
				time.Sleep(time.Minute)
				d.Outage(time.Minute)
				require.False(t, lease.Valid(), "the listener does not hold up the session")
				time.Sleep(10 * time.Minute)
				require.Equal(t, []locks.ChangeKind{locks.Suspended, locks.Resumed, locks.RevokeRequested, locks.Suspended,
					locks.Lost}, h.Kinds())
				for _, c := range h.All {
					require.Same(t, lease, c.Lease)
				}
				require.Positive(t, h.All[0].Left)
				require.LessOrEqual(t, h.All[0].Left, 5*time.Second)
				require.WithinDuration(t, asked.Add(time.Hour), h.All[2].Until, time.Minute)
				require.ErrorIs(t, h.All[4].Err, locks.ErrLost)
			})
		})
	}
}

// TestOnChangeSaysNothingOfAnOwnersRelease: it knows.
func TestOnChangeSaysNothingOfAnOwnersRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := scene.Client(t, scene.Virtual(t))
		h := &scene.Changes{}
		scene.Cycle(t, client.Mutex("/change", locks.WithOnChange(h.Hear)))
		lease := scene.Locked(t, client.Mutex("/change", locks.WithOnChange(h.Hear), locks.WithMaxHold(time.Minute)).Lock)
		<-lease.Context().Done()
		synctest.Wait()
		require.Equal(t, []locks.ChangeKind{locks.Lost}, h.Kinds())
		require.ErrorIs(t, h.All[0].Err, locks.ErrMaxHold)
	})
}

// TestReady: a client is ready while a server answers and through a short outage, and not while nothing can be renewed.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		require.NoError(t, client.Ready())
		state := client.State()
		require.Equal(t, actors.Connected, state.Phase)
		require.Equal(t, uint64(1), state.Epoch)
		require.NotZero(t, state.ID)
		require.NotEmpty(t, state.Server)
		require.Equal(t, 10*time.Second, state.Timeout)
		require.NoError(t, state.Cause)

		over := make(chan struct{})
		go func() { defer close(over); d.Outage(time.Minute) }()
		time.Sleep(1900 * time.Millisecond)
		require.Equal(t, actors.Disconnected, client.State().Phase)
		require.NoError(t, client.Ready(), "short so far")
		time.Sleep(200 * time.Millisecond)
		err := client.Ready()
		require.ErrorContains(t, err, "in an outage")
		require.NotContains(t, err.Error(), "\n")
		<-over
		time.Sleep(time.Minute) // the session has expired, and there is a new one
		require.NoError(t, client.Ready())
		require.Equal(t, uint64(2), client.State().Epoch)
	})
}

// TestNobodyAnswers: the connection stays up, and the heartbeats of a holder get no answer: for a while, so that its lease
// is in doubt and goes on, and for too long, so that it is lost, by the clock. The client is not ready until it is answered.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, h := scene.Client(t, server), &scene.Changes{}
		lease := scene.Locked(t, client.Mutex("/ready", locks.WithOnChange(h.Hear)).Lock)
		time.Sleep(time.Minute)
		server.Leader().HoldReplies()
		for len(h.Kinds()) == 0 {
			time.Sleep(time.Millisecond)
		}
		require.True(t, lease.Valid(), "in doubt, and not over yet")
		server.Leader().ReleaseReplies()
		time.Sleep(time.Minute)
		require.True(t, lease.Valid())
		server.Leader().HoldReplies()
		stopped := time.Now()
		<-lease.Context().Done()
		require.False(t, lease.Valid())
		require.LessOrEqual(t, time.Since(stopped), 5*time.Second)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrLost)
		require.Equal(t, actors.Unanswered, client.State().Phase)
		time.Sleep(time.Second)
		require.Equal(t, []locks.ChangeKind{locks.Suspended, locks.Resumed, locks.Suspended, locks.Lost}, h.Kinds())
		require.Error(t, client.Ready())
		server.Leader().ReleaseReplies()
		time.Sleep(time.Minute)
		require.NoError(t, client.Ready())
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, client.Ready(), locks.ErrClosed)
	})
}

// TestOnChangeMayLock: the callback may take locks of the same client, and use the lease of the
// change.
func TestOnChangeMayLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		done := make(chan error, 1)
		lease := scene.Locked(t, client.Mutex("/change", locks.WithOnChange(func(c locks.Change) {
			second, err := client.Mutex("/second").Lock(t.Context())
			if err == nil {
				err = errors.Join(second.Unlock(t.Context()), c.Lease.Unlock(t.Context()))
			}
			done <- err
		})).Lock)
		_, err := other.Revoke(t.Context(), "/change")
		require.NoError(t, err)
		require.NoError(t, <-done)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrNotHeld)
	})
}
