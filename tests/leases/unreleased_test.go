package leases

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// forget locks and does not give back.
func forget(t *testing.T, mutex *locks.Mutex) *locks.Lease {
	return scene.Locked(t, mutex.Lock)
}

// TestUnreleased: a lease that was forgotten is reported once, with the stack of its Lock, when its time is over or the
// client is closed; one that was given back or lost is not.
func TestUnreleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		var mu sync.Mutex
		var reported []locks.Unreleased
		client := scene.Client(t, server, locks.WithUnreleased(time.Minute, func(u locks.Unreleased) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, u)
		}))
		scene.Cycle(t, client.Mutex("/cycle"))
		long := forget(t, client.Mutex("/long"))
		time.Sleep(time.Hour)
		require.Len(t, reported, 1)
		require.Same(t, long, reported[0].Lease)
		require.Equal(t, time.Minute, reported[0].Held)
		require.Contains(t, string(reported[0].Stack), "leases.forget")
		require.NoError(t, server.Expire(forget(t, client.Mutex("/lost")).Session()))
		time.Sleep(time.Hour)
		short := forget(t, client.Mutex("/short"))
		require.Len(t, reported, 1)
		require.NoError(t, client.Close(t.Context()))
		require.Len(t, reported, 2)
		require.Same(t, short, reported[1].Lease)
		_, err := locks.Open(t.Context(), server.Connect(), locks.WithUnreleased(0, nil))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	})
}
