package sasl

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/digestmd5"
)

// passwords are the passwords of the JAAS files.
var passwords = map[string]string{"alice": "alice's pass word", "bob": `tr0ub4dor"&\3`}

// digest is the mechanism of a user.
func digest(t testing.TB, user, password string) zkconn.SASLMechanism {
	t.Helper()
	m, err := digestmd5.New(user, password)
	require.NoError(t, err)
	return m
}

// as has a client authenticate as somebody of the JAAS files.
func as(t testing.TB, user string) locks.Option {
	return locks.WithSASL(digest(t, user, passwords[user]))
}

// mine opens a client of bob's, whose nodes are his alone.
func mine(t *testing.T, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	return open(t, connect, append([]locks.Option{as(t, "bob"), locks.WithACL(zkconn.CreatorACL()...)}, opts...)...)
}

// dial makes a connection below the locks, and gives its events.
func dial(t *testing.T, connect string, opts ...zkconn.Option) (*zkconn.Conn, <-chan zkconn.Event) {
	t.Helper()
	cfg, err := zkconn.NewConfig(connect, append([]zkconn.Option{zkconn.WithSessionTimeout(patient.Session)}, opts...)...)
	require.NoError(t, err)
	events := make(chan zkconn.Event, 1000)
	conn, err := zkconn.Dial(cfg, 1, func(e zkconn.Event) { events <- e })
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn, events
}

// next gives the next event.
func next(t *testing.T, events <-chan zkconn.Event) zkconn.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(patient.Bound):
		require.FailNow(t, "no event")
	}
	return zkconn.Event{}
}

// changing is a mechanism that becomes another.
type changing struct{ now func() zkconn.SASLMechanism }

func (c changing) Name() string      { return c.now().Name() }
func (c changing) Principal() string { return c.now().Principal() }
func (c changing) Start(ctx context.Context, s zkconn.SASLServer) (zkconn.SASLExchange, error) {
	return c.now().Start(ctx, s)
}

// waiters gives how many wait in a queue.
func waiters(t *testing.T, client *locks.Client, path string) (n int) {
	t.Helper()
	contenders, err := client.Queue(deadline(t), path)
	require.NoError(t, err)
	for _, c := range contenders {
		if !c.Holds {
			n++
		}
	}
	return n
}
