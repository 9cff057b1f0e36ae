package kinds

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// wireEvents are the watch events that a client was sent, read off its connections, so that they can be counted
// on any server.
type wireEvents struct {
	mu    sync.Mutex
	paths []string // of the nodes that they tell of, in order
}

// openCounted opens a client whose watch events are counted.
func openCounted(t *testing.T, at *stories.Servers) (*locks.Client, *wireEvents) {
	t.Helper()
	e := &wireEvents{}
	// As long a session as servers grant: a thousand waiters keep a slow machine busy.
	return at.Open(t, locks.WithDialer(e.dial), locks.WithSessionTimeout(time.Minute)), e
}

func (e *wireEvents) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, events: e}, nil
}

// below counts the events of a node and of all below it, and forgets them.
func (e *wireEvents) below(path string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kept := e.paths[:0]
	for _, p := range e.paths {
		if p == path || strings.HasPrefix(p, path+"/") {
			n++
		} else {
			kept = append(kept, p)
		}
	}
	e.paths = kept
	return n
}

// countedConn cuts what it reads into frames.
type countedConn struct {
	net.Conn
	events *wireEvents
	rest   []byte // of a frame that is not complete; only the reader's
}

// A watch event is a frame with this in place of a request's number; its header has 16 bytes, and then come
// the kind, the state and the path.
const eventXid = -1

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.rest = append(c.rest, p[:n]...)
	for len(c.rest) >= 4 {
		end := 4 + int(binary.BigEndian.Uint32(c.rest))
		if len(c.rest) < end {
			break
		}
		c.frame(c.rest[4:end])
		c.rest = append([]byte(nil), c.rest[end:]...)
	}
	return n, err
}

func (c *countedConn) frame(f []byte) {
	const path = 16 + 4 + 4 + 4
	if len(f) < path || int32(binary.BigEndian.Uint32(f)) != eventXid {
		return
	}
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	c.events.paths = append(c.events.paths, string(f[path:]))
}
