package patient

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
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
