package scene

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Estate is one address behind which the server may be replaced: by one without data, by one that
// was restored from an old backup, or by something that hands out another session to a client that
// asks for its own. Its methods may be called from any goroutine.
type Estate struct {
	mu     sync.Mutex
	server *embedded.Server // nil while no server runs
	swaps  bool
	conns  []net.Conn
}

// NewEstate makes an estate with a server.
func NewEstate(server *embedded.Server) *Estate { return &Estate{server: server} }

// EstateAddress is the address of every estate.
const EstateAddress = "127.0.0.1:2181"

var errVacant = errors.New("nothing listens there")

// Dial is the dialer of sessions.
func (e *Estate) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errVacant}
	}
	conn, err := e.server.DialContext(ctx, network, e.server.Addr())
	if err != nil {
		return nil, err
	}
	e.conns = append(e.conns, conn)
	if e.swaps {
		return &forgetful{Conn: conn}, nil
	}
	return conn, nil
}

// Vacate takes the server away, and resets all connections. The server goes on without its clients.
func (e *Estate) Vacate() { e.replace(nil, false) }

// Replace has another server there from now on. Connections to the one before are reset.
func (e *Estate) Replace(server *embedded.Server) { e.replace(server, false) }

// Swap gives clients that reconnect another session from now on, at the same server.
func (e *Estate) Swap() {
	e.mu.Lock()
	server := e.server
	e.mu.Unlock()
	e.replace(server, true)
}

func (e *Estate) replace(server *embedded.Server, swaps bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server, e.swaps = server, swaps
	for _, conn := range e.conns {
		_ = conn.Close()
	}
	e.conns = nil
}

// forgetful is a connection whose connect request asks for a new session. A request is one write.
type forgetful struct {
	net.Conn
	asked bool
}

// A connect request after its length: protocol version, last zxid, timeout, session, password.
const (
	versionAt  = 4
	zxidAt     = versionAt + 4
	sessionAt  = zxidAt + 8 + 4
	passwordAt = sessionAt + 8 + 4
)

func (f *forgetful) Write(p []byte) (int, error) {
	if f.asked || len(p) < passwordAt || binary.BigEndian.Uint32(p[versionAt:]) != 0 {
		return f.Conn.Write(p)
	}
	f.asked = true
	asks := append([]byte(nil), p...)
	clear(asks[zxidAt : zxidAt+8])
	clear(asks[sessionAt : sessionAt+8])
	return f.Conn.Write(asks)
}
