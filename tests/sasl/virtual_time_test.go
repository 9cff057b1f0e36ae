package sasl

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// virtual opens a client in a bubble; it is closed before that ends.
func virtual(t *testing.T, server *embedded.Server, opts ...locks.Option) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), server.Connect(), append(opts, locks.WithDialer(server.DialContext),
		locks.WithSessionTimeout(10*time.Second))...)
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() {
		patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
	return client
}

// Hours of holding a lock on connections that are lost each minute, with exchanges that take a second: the lease
// never ends, and the session stays the same.
func TestHoursOfReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t, embedded.WithReplicas(3),
			embedded.WithSASL(passwords), embedded.WithSASLRequired())
		client := virtual(t, server, as(t, "bob"))
		lease := bubble.Locked(t, client.Mutex("/hours").Lock)
		id := client.Session().ID()
		slow, err := server.Inject(embedded.Fault{
			Op: embedded.OpSASL, Count: 1 << 20, Action: embedded.HoldReplies, Delay: 500 * time.Millisecond,
		})
		require.NoError(t, err)
		for range 120 {
			time.Sleep(time.Minute)
			require.True(t, lease.Valid())
			for _, r := range server.Replicas() {
				r.DropClients()
			}
		}
		time.Sleep(time.Minute)
		require.NoError(t, lease.Context().Err())
		require.Equal(t, id, client.Session().ID())
		require.GreaterOrEqual(t, slow.Hits(), 240)
		bubble.GiveBack(t, lease)
	})
}

// Servers that take connections and fall silent in the exchange: the holder gives the lock up by its own clock,
// before the servers give it to somebody else. That they do: its client stops asking to be let in, and does not
// keep the session alive by it. It goes on when they answer again.
func TestSilenceInTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t, embedded.WithReplicas(3),
			embedded.WithSASL(passwords))
		client := virtual(t, server, as(t, "bob"))
		lease := bubble.Locked(t, client.Mutex("/lease").Lock)
		next := make(chan *locks.Lease, 1)
		waiter := virtual(t, server) // without SASL
		go func() {
			lease, err := waiter.Mutex("/lease").Lock(t.Context())
			if err != nil {
				t.Error(err)
			}
			next <- lease
		}()
		id := client.Session().ID()
		time.Sleep(20 * time.Second)
		silent, err := server.Inject(embedded.Fault{Op: embedded.OpSASL, Count: 1 << 20, Action: embedded.HoldReplies})
		require.NoError(t, err)
		for _, r := range server.Replicas() {
			r.DropClients()
		}
		cut := time.Now()
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
		require.LessOrEqual(t, time.Since(cut), 5*time.Second, "half of the session timeout")
		due, known := server.SessionDue(id)
		require.True(t, !known || due.After(time.Now()), "the session lives for longer than the lease")
		var other *locks.Lease
		select {
		case other = <-next:
		case <-time.After(time.Minute): // a session timeout of attempts, one and a half of waiting, and what is under way
		}
		require.NotNil(t, other, "the session of a client that is not let in lives on")
		require.Greater(t, other.Token(), lease.Token())
		bubble.GiveBack(t, other)
		silent.Release()
		silent.Remove()
		again := bubble.Locked(t, client.Mutex("/lease").Lock)
		require.Greater(t, again.Token(), lease.Token())
		bubble.GiveBack(t, again)
	})
}
