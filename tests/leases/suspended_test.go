package leases

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// TestSuspendedWhileDisconnected: the machine is suspended during an outage. Timers have stood still, and no heartbeat
// comes back: the holder hears all the same that its lease is over.
func TestSuspendedWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		var suspended atomic.Int64
		server := bubble.Server(t)
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
			locks.WithSessionTimeout(timeout),
			locks.WithSuspendedTime(func() time.Duration { return time.Duration(suspended.Load()) }))
		require.NoError(t, err)
		relists.Count(t, client.Session())
		defer func() {
			patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		}()
		lease := bubble.Locked(t, client.Mutex("/suspended").Lock)
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

// TestGivenBackAfterASuspension: the first thing that a machine does after a suspension is to give back what it held. It
// was lost by then, and others may have had it. Unlock says so; WithOnLost and WithOnChange do in any case, once, for a
// Release says nothing.
func TestGivenBackAfterASuspension(t *testing.T) {
	for name, give := range map[string]func(*testing.T, *locks.Lease){
		"Unlock": func(t *testing.T, lease *locks.Lease) {
			require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrLost)
		},
		"Release": func(_ *testing.T, lease *locks.Lease) { lease.Release() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var suspended atomic.Int64
				server := bubble.Server(t)
				client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
					locks.WithSuspendedTime(func() time.Duration { return time.Duration(suspended.Load()) }))
				require.NoError(t, err)
				relists.Count(t, client.Session())
				defer func() {
					patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
					time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
				}()
				told := make(chan string, 10)
				mutex := client.Mutex("/suspended", locks.WithOnLost(func(key string, err error) {
					told <- fmt.Sprint(key, " ", errors.Is(err, locks.ErrLost))
				}), locks.WithOnChange(func(change locks.Change) {
					told <- fmt.Sprint(change.Kind, " ", errors.Is(change.Err, locks.ErrLost))
				}))
				lease := bubble.Locked(t, mutex.Lock)
				synctest.Wait()

				suspended.Store(int64(time.Hour))
				give(t, lease)
				time.Sleep(time.Minute)
				require.Len(t, told, 2)
				require.Equal(t, "lost true", <-told)
				require.Equal(t, "/suspended true", <-told)
				patient.Cycle(t, mutex)
				time.Sleep(time.Minute)
				require.Empty(t, told, "what was given back in time was not lost")
			})
		})
	}
}

// TestGivenBackDuringAnOutage: what was given back while the lease ran is not told as lost, also where the servers hear
// nothing of it before its session has ended, or the client is closed.
func TestGivenBackDuringAnOutage(t *testing.T) {
	for name, wait := range map[string]time.Duration{"closed at once": 0, "the session ends": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext))
				require.NoError(t, err)
				relists.Count(t, client.Session())
				told := make(chan string, 10)
				lease := bubble.Locked(t, client.Mutex("/outage", locks.WithOnLost(func(key string, err error) {
					told <- fmt.Sprint(key, " ", err)
				})).Lock)
				time.Sleep(time.Minute)
				unreachable(server)
				time.Sleep(time.Millisecond)
				require.True(t, lease.Valid())
				lease.Release()
				time.Sleep(wait)
				patient.Closed(t, client.Close(t.Context()))
				time.Sleep(time.Minute)
				require.Empty(t, told)
			})
		})
	}
}
