package embedded_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

var (
	worldACL = zk.WorldACL(zk.PermAll)
	all      = int32(-1) // matches every version
)

// gozk is a client of go-zookeeper's, with what it has seen of its session.
type gozk struct {
	*zk.Conn
	t testing.TB

	way sync.Mutex // held while it is not to reach the server

	mu     sync.Mutex
	states []zk.State
	change chan struct{} // closed with every state
}

// dialGozk connects and waits for a session.
func dialGozk(t testing.TB, s *embedded.Server) *gozk {
	t.Helper()
	c := &gozk{t: t, change: make(chan struct{})}
	conn, events, err := zk.Connect([]string{s.Addr()}, 10*time.Second, zk.WithLogger(mute{}),
		zk.WithDialer(c.dial), zk.WithHostProvider(&oneHost{}), zk.WithEventCallback(c.note))
	require.NoError(t, err)
	c.Conn = conn
	t.Cleanup(func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	c.await(zk.StateHasSession)
	return c
}

type mute struct{}

func (mute) Printf(string, ...any) {}

// oneHost has a client reconnect at once. The usual provider has it wait a second when there is one server.
type oneHost struct{ addr string }

func (h *oneHost) Init(servers []string) error { h.addr = servers[0]; return nil }
func (h *oneHost) Len() int                    { return 1 }
func (h *oneHost) Next() (string, bool)        { return h.addr, false }
func (h *oneHost) Connected()                  {}

func (c *gozk) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	c.way.Lock()
	defer c.way.Unlock()
	return net.DialTimeout(network, address, timeout)
}

func (c *gozk) note(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = append(c.states, e.State)
	close(c.change)
	c.change = make(chan struct{})
}

// await waits until the client's session comes to a state, and forgets the states before.
func (c *gozk) await(state zk.State) {
	c.t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		for len(c.states) > 0 {
			first := c.states[0]
			c.states = c.states[1:]
			if first == state {
				c.mu.Unlock()
				return
			}
		}
		change := c.change
		c.mu.Unlock()
		select {
		case <-change:
		case <-limit:
			require.FailNow(c.t, "the state never came", "%v", state)
		}
	}
}

// cut ends the client's connection, and nobody else's. It does not connect again before the function that
// is given back has been called.
func (c *gozk) cut(s *embedded.Server) (mend func()) {
	c.t.Helper()
	c.way.Lock()
	fault, err := s.Inject(embedded.Fault{Op: embedded.OpExists, Session: c.SessionID(), Action: embedded.CutBefore})
	require.NoError(c.t, err)
	_, _, err = c.Exists("/")
	require.ErrorIs(c.t, err, zk.ErrConnectionClosed)
	require.Equal(c.t, 1, fault.Hits())
	c.await(zk.StateDisconnected)
	return c.way.Unlock
}

// make creates a node, which must succeed.
func (c *gozk) make(path string, flags int32) string {
	c.t.Helper()
	made, err := c.Create(path, []byte("x"), flags, worldACL)
	require.NoError(c.t, err)
	return made
}

// next waits for the event of a watch.
func next(t testing.TB, events <-chan zk.Event) zk.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(patience):
		require.FailNow(t, "no event")
		return zk.Event{}
	}
}
