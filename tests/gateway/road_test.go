package gateway

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// road is the way of all messages to one node: a relay in front of its remote. Messages the other
// way take the road of the other node.
type road struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu     sync.Mutex
	open   *sync.Cond
	silent bool // bytes are held back
	down   bool // connections are closed, and new ones too
	closed bool
	conns  map[net.Conn]struct{}
}

// newRoad listens on a port of 127.0.0.1, and leads to the same port of 127.77.0.1.
func newRoad(t *testing.T) *road {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return runRoad(listener, net.JoinHostPort(inner, port)) // for as long as the process lives
}

// newRoadTo leads to any address.
func newRoadTo(t *testing.T, target string) *road {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := runRoad(listener, target)
	t.Cleanup(r.close)
	return r
}

func runRoad(listener net.Listener, target string) *road {
	r := &road{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	r.open = sync.NewCond(&r.mu)
	r.running.Go(r.accept)
	return r
}

// inner is the address at which remotes listen.
const inner = "127.77.0.1"

// address is the address that others dial.
func (r *road) address() string { return r.listener.Addr().String() }

func (r *road) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.running.Go(func() { r.serve(conn) })
	}
}

func (r *road) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	if !r.add(from, to) {
		return
	}
	defer r.remove(from, to)
	var back sync.WaitGroup
	back.Go(func() { r.carry(from, to) })
	r.carry(to, from)
	back.Wait()
}

func (r *road) add(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down || r.closed {
		return false
	}
	for _, conn := range conns {
		r.conns[conn] = struct{}{}
	}
	return true
}

func (r *road) remove(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		delete(r.conns, conn)
	}
}

// carry copies until either side is closed.
func (r *road) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil && (n == 0 || err != io.EOF) {
			return
		}
		r.mu.Lock()
		for r.silent && !r.closed && !r.down {
			r.open.Wait()
		}
		r.mu.Unlock()
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// silence holds back what comes, and what is held back already comes when it ends.
func (r *road) silence(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent = on
	r.open.Broadcast()
}

// cut closes every connection, and while it lasts each new one.
func (r *road) cut(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = on
	for conn := range r.conns {
		_ = conn.Close()
	}
	r.open.Broadcast()
}

func (r *road) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	_ = r.listener.Close()
	r.cut(true)
	r.running.Wait()
}
