package leases

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
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestCloseUsesItsTime: a client is closed in an outage. With a deadline it tells the servers when they are back, and
// others have its locks then, long before its session would have expired. It gives up by its deadline, or when the session
// has expired. Without a deadline it gives up at once.
func TestCloseUsesItsTime(t *testing.T) {
	const session = 10 * time.Second
	for name, c := range map[string]struct {
		patience, outage time.Duration // patience 0: no deadline
		closed           bool
		least, most      time.Duration
	}{
		"the servers come back":            {patience: 5 * time.Second, outage: 2 * time.Second, closed: true, least: 2 * time.Second, most: 3 * time.Second},
		"they do not":                      {patience: 5 * time.Second, outage: time.Minute, least: 4 * time.Second, most: 5 * time.Second},
		"no deadline":                      {outage: 2 * time.Second, most: 100 * time.Millisecond},
		"longer than the session can last": {patience: time.Hour, outage: time.Hour, least: session, most: session + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				d := &bubble.Network{Server: server}
				client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(d.Dial), locks.WithSessionTimeout(session))
				require.NoError(t, err)
				relists.Count(t, client.Session())
				other := bubble.Client(t, server)
				lease := bubble.Locked(t, client.Mutex("/close").Lock)
				time.Sleep(time.Minute)
				go d.Outage(c.outage)
				time.Sleep(100 * time.Millisecond)

				ctx, cancel := context.WithCancel(t.Context())
				if c.patience > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.patience)
				}
				defer cancel()
				begun := time.Now()
				closed := make(chan error, 1)
				go func() { closed <- client.Close(ctx) }()
				synctest.Wait()
				require.False(t, lease.Valid(), "it is given back at once, whatever becomes of the servers")
				err = <-closed
				took := time.Since(begun)
				require.GreaterOrEqual(t, took, c.least-100*time.Millisecond)
				require.LessOrEqual(t, took, c.most)
				require.Equal(t, err, client.Close(ctx), "again")
				if !c.closed {
					require.ErrorIs(t, err, locks.ErrSessionRemains)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NoError(t, err)
					next := bubble.Locked(t, locks.Try(other.Mutex("/close")).Lock)
					bubble.GiveBack(t, next)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// TestOldSessionRemains: a session lapses in an outage, so that the client wants another. The client is closed before the
// servers are back. The log says that the old session was not closed: it keeps others out until it expires.
func TestOldSessionRemains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const session = 10 * time.Second
		server := bubble.Server(t)
		d := &bubble.Network{Server: server}
		log, logger := stories.NewLog()
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(d.Dial), locks.WithSessionTimeout(session), logger)
		require.NoError(t, err)
		relists.Count(t, client.Session())
		lease := bubble.Locked(t, client.Mutex("/old").Lock)
		waits := patient.Elsewhere(t.Context(), client.Mutex("/old").Lock)
		time.Sleep(time.Minute)
		go d.Outage(time.Hour)
		<-lease.Context().Done()
		time.Sleep(time.Second)
		require.NoError(t, client.Close(t.Context()), "there is no newer session yet")
		require.ErrorIs(t, patient.Receive(t, waits).Err, locks.ErrClosed)
		time.Sleep(2 * time.Hour) // until the outage is over, for the end of the bubble
		require.Equal(t, 1, log.Count("session not closed at the servers"))
	})
}
