package scene

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Raw gives a bare connection of go-zookeeper's that has a session, and is closed with the test. The library gives a
// dial one second by itself, and then fails every request that waits: a busy machine needs longer.
func Raw(t testing.TB, timeout time.Duration, servers ...string) *zk.Conn {
	t.Helper()
	dial := func(network, address string, _ time.Duration) (net.Conn, error) {
		return net.DialTimeout(network, address, Bound)
	}
	conn, events, err := zk.Connect(servers, timeout, zk.WithDialer(dial), zk.WithLogger(silent{}))
	require.NoError(t, err)
	Cleanup(t, func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	Eventually(t, func() bool { return conn.State() == zk.StateHasSession }, "no session at %v", servers)
	return conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// Dial gives a connection of zkconn's that no actor owns, to servers, a connect string. It has a session, and is closed
// with the test.
func Dial(t testing.TB, servers string, opts ...zkconn.Option) *zkconn.Conn {
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
	Receive(t, connected)
	return conn
}

// DeadAddress is one that nobody listens at.
func DeadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
