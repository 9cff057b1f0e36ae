package zkconn

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// dialed is when a server was dialed.
type dialed struct {
	mu sync.Mutex
	at []time.Time
}

func (d *dialed) by(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d.mu.Lock()
		d.at = append(d.at, time.Now())
		d.mu.Unlock()
		return dial(ctx, network, address)
	}
}

func (d *dialed) times() []time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]time.Time(nil), d.at...)
}

// One wait is enough for a session to expire: where servers cannot be reached after it, nothing lets it live for
// longer, and the first that can is found at once. Another connect request needs another wait.
func TestSessionIsLeftToExpireOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.handle = swears("open", 0, nil)
		var dials dialed
		c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}), WithDialer(dials.by(server.dial)),
			WithReconnectBackoff(100*time.Millisecond, 200*time.Millisecond))
		expect(t, events, Connected)
		server.set(func() { server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} } })
		server.cut()
		expect(t, events, Disconnected)
		const wait = session40 + session40/2
		for asked := 0; asked != len(server.asked()); time.Sleep(session40 * 9 / 10) { // the longest other gap is a third
			asked = len(server.asked())
		}
		server.set(func() { server.unreach = true })
		before := len(dials.times())
		time.Sleep(2 * wait)
		at := dials.times()
		require.Greater(t, len(at), before+3)
		for i := before + 1; i < len(at); i++ {
			require.Less(t, at[i].Sub(at[i-1]), time.Second, "dial %d", i)
		}

		asked := len(server.asked())
		server.set(func() { server.unreach = false })
		time.Sleep(wait)
		require.Len(t, server.asked(), asked+1, "at once, and then not for a while")
		server.set(func() { server.session = 0 })
		expect(t, events, Expired)
		require.Len(t, server.asked(), asked+2)
		require.NoError(t, c.Close())
	})
}
