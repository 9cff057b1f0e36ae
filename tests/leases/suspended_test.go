package leases

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestSuspendedWhileDisconnected: the machine is suspended during an outage. Timers have stood still, and no heartbeat
// comes back: the holder hears all the same that its lease is over.
func TestSuspendedWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended atomic.Int64
		server := scene.Virtual(t)
		client := scene.Client(t, server, locks.WithSuspendedTime(func() time.Duration { return time.Duration(suspended.Load()) }))
		lease := scene.Locked(t, client.Mutex("/suspended").Lock)
		time.Sleep(time.Minute)
		unreachable(server)
		time.Sleep(time.Millisecond)
		require.True(t, lease.Valid())
		require.Greater(t, time.Until(lease.Deadline()), timeout/6)

		suspended.Store(int64(time.Hour))
		resumed := time.Now()
		require.False(t, lease.Valid())
		<-lease.Context().Done()
		require.LessOrEqual(t, time.Since(resumed), timeout/50)
	})
}

// TestGivenBack: whether WithOnLost and WithOnChange tell of a loss that was given back, once. The first thing that a machine
// does after a suspension is to give back what it held: it was lost by then, and others may have had it. What was given back
// while the lease ran is not told as lost, also in an outage in which the servers hear nothing of it before its session has
// ended, or the client is closed.
func TestGivenBack(t *testing.T) {
	for name, c := range map[string]struct {
		suspended, unlocks bool
		waits              time.Duration
	}{
		"Unlock after a suspension":         {suspended: true, unlocks: true, waits: time.Minute},
		"Release after a suspension":        {suspended: true, waits: time.Minute},
		"in an outage, and closed at once":  {},
		"in an outage that the session has": {waits: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var suspended atomic.Int64
				server := scene.Virtual(t)
				client := scene.Client(t, server, locks.WithSuspendedTime(func() time.Duration { return time.Duration(suspended.Load()) }))
				told := make(chan string, 10)
				mutex := client.Mutex("/suspended", locks.WithOnLost(func(key string, err error) {
					told <- fmt.Sprint(key, " ", errors.Is(err, locks.ErrLost))
				}), locks.WithOnChange(func(change locks.Change) {
					if change.Kind == locks.Lost {
						told <- fmt.Sprint(change.Kind, " ", errors.Is(change.Err, locks.ErrLost))
					}
				}))
				lease := scene.Locked(t, mutex.Lock)
				time.Sleep(time.Minute)
				if c.suspended {
					suspended.Store(int64(time.Hour))
				} else {
					unreachable(server)
					time.Sleep(time.Millisecond)
					require.True(t, lease.Valid())
				}
				if c.unlocks {
					require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrLost)
				} else {
					lease.Release()
				}
				time.Sleep(c.waits)
				if c.suspended {
					require.Len(t, told, 2)
					require.Equal(t, "lost true", <-told)
					require.Equal(t, "/suspended true", <-told)
					scene.Cycle(t, mutex)
				} else {
					scene.Closed(t, client.Close(t.Context()))
				}
				time.Sleep(time.Minute)
				require.Empty(t, told, "what was given back in time was not lost")
			})
		})
	}
}
