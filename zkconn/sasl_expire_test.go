package zkconn

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A session whose client is not let in any more is given up: each connect request would let it live for longer, and keep
// its locks.
func TestSessionThatIsNotLetInIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t)
		server.handle = swears("open", 0, nil)
		c, events := dialFake(t, server, "zk1", WithSASL(&oath{password: "open"}),
			WithReconnectBackoff(100*time.Millisecond, 200*time.Millisecond))
		expect(t, events, Connected)
		server.set(func() { server.handle = func(fakeRequest) fakeReply { return fakeReply{silent: true} } })
		server.cut()
		expect(t, events, Disconnected)
		cut := time.Now()
		expect(t, events, Lapsed)
		e := expect(t, events, Expired)
		require.ErrorIs(t, e.Err, errGivenUp)
		require.Equal(t, session40, e.At.Sub(cut).Round(time.Millisecond))
		require.False(t, c.Ended(), "no server has said so")
		asked := len(server.asked())
		time.Sleep(2 * session40)
		require.Len(t, server.asked(), asked, "nothing lets it live for longer")
		require.ErrorIs(t, c.Close(), ErrSessionRemains)
	})
}
