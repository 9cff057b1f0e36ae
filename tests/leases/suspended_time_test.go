package leases

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestSuspendedTimeOfTheUser is TestCallbacks for the function that tells for how long the machine was suspended. The clock
// asks it under mutexes, where virtual time stands still, so this is in real time. One that is stuck or panics ends the
// leases, before anybody else holds; Lock, Unlock and Close return all the same; and the client goes on once it answers.
func TestSuspendedTimeOfTheUser(t *testing.T) {
	for _, does := range []string{stuck, slow, panics} {
		for _, event := range []string{"grant", "Unlock", "Close", "cut", "loss by time", "expiry"} {
			t.Run(does+"/"+event, func(t *testing.T) {
				t.Parallel()
				server := embedded.Run(t)
				network := &scene.Network{Server: server}
				never, armed := make(chan struct{}), atomic.Bool{}
				client := scene.Open(t, server.Connect(), locks.WithSessionTimeout(12*time.Second), locks.WithDialer(network.Dial),
					locks.WithSuspendedTime(func() time.Duration {
						switch {
						case !armed.Load():
						case does == stuck:
							<-never
						case does == slow:
							time.Sleep(50 * time.Millisecond)
						default:
							panic(does)
						}
						return 0
					}))
				lease := scene.Locked(t, client.Mutex("/first").Lock)
				second := scene.Locked(t, client.Mutex("/second").Lock)
				other := scene.Elsewhere(scene.Deadline(t), scene.Open(t, server.Connect()).Mutex("/first").Lock)

				returns := func(call func(context.Context) error) {
					t.Helper()
					returned := make(chan struct{})
					ctx, cancel := context.WithTimeout(scene.Deadline(t), 2*time.Second)
					defer cancel()
					go func() { defer close(returned); _ = call(ctx) }()
					scene.Receive(t, returned)
				}
				lock := func(ctx context.Context) error {
					_, err := client.Mutex("/third").TryLock(ctx)
					return err
				}
				armed.Store(true)
				lost := does != slow
				switch event {
				case "grant":
					returns(lock)
				case "Unlock":
					returns(second.Unlock)
				case "Close":
					returns(client.Close)
					lost = true
				case "cut":
					network.Outage(100 * time.Millisecond)
					returns(lock)
				case "loss by time":
					network.Refuse(true)
					server.Replica(0).DropClients()
					scene.Receive(t, lease.Context().Done())
					network.Refuse(false)
					lost = true
				case "expiry": // by an operator, so others may hold before the deadline
					require.NoError(t, server.Expire(client.Session().ID()))
					scene.Receive(t, lease.Context().Done())
					lost = true
				}
				if !lost {
					require.True(t, lease.Valid() || event == "cut") // to connect again may take all that is left of the lease
					returns(lease.Unlock)
				}
				got := scene.Receive(t, other)
				require.NoError(t, got.Err)
				require.Error(t, lease.Context().Err(), "somebody else holds")
				require.False(t, lease.Valid())
				scene.GiveBack(t, got.Lease)
				returns(second.Unlock)
				returns(lock)
				armed.Store(false)
				close(never)
				if event != "Close" {
					next, err := client.Mutex("/fourth").Lock(scene.Deadline(t))
					require.NoError(t, err, "it answers again")
					scene.GiveBack(t, next)
				}
			})
		}
	}
}
