// Package dial gives tests a connection of zkconn's that no actor owns.
package dial

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// bound is how long a session may take, on a machine that is busy with other tests.
const bound = 3 * time.Minute

// Session gives a connection to servers, a connect string, that has a session. It is closed with the test.
func Session(t testing.TB, servers string, opts ...zkconn.Option) *zkconn.Conn {
	t.Helper()
	cfg, err := zkconn.NewConfig(servers, opts...)
	require.NoError(t, err)
	connected := make(chan struct{}, 1)
	conn, err := zkconn.Dial(cfg, 1, func(event zkconn.Event) {
		if event.Kind == zkconn.Connected {
			select {
			case connected <- struct{}{}:
			default: // it has connected again
			}
		}
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	select {
	case <-connected:
	case <-time.After(bound):
		require.FailNow(t, "no session", "at %s within %v", servers, bound)
	}
	return conn
}
