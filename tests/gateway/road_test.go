package gateway

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// road is the way of all messages to one node: a relay in front of its remote. Messages the other
// way take the road of the other node.
type road struct {
	address string // that others dial
	target  string

	mu    sync.Mutex
	turn  *sync.Cond
	state scene.NetworkState // bytes are held back while it is Silent
	conns []net.Conn
}

// inner is the address at which remotes listen.
const inner = "127.77.0.1"

// newRoad leads to an address, and ends with the test. Without one it leads from a port of
// 127.0.0.1 to the same port of inner, for as long as the process lives.
func newRoad(t *testing.T, target string) *road {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &road{address: listener.Addr().String(), target: target}
	r.turn = sync.NewCond(&r.mu)
	if target == "" {
		_, port, err := net.SplitHostPort(r.address)
		require.NoError(t, err)
		r.target = net.JoinHostPort(inner, port)
	} else {
		t.Cleanup(func() { _ = listener.Close(); r.be(scene.Down) })
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
	return r
}

func (r *road) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	r.mu.Lock()
	down := r.state == scene.Down
	r.conns = append(r.conns, from, to)
	r.mu.Unlock()
	if !down {
		go r.carry(from, to)
		r.carry(to, from)
	}
}

// carry copies until either side is closed.
func (r *road) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		r.mu.Lock()
		for r.state == scene.Silent {
			r.turn.Wait()
		}
		r.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// be changes the state. Down closes every connection, and while it lasts each new one. What silence
// has held back comes when it ends.
func (r *road) be(state scene.NetworkState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
	if state == scene.Down {
		for _, conn := range r.conns {
			_ = conn.Close()
		}
		r.conns = nil
	}
	r.turn.Broadcast()
}
