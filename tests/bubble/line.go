package bubble

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// State is the state of a Line.
type State int

// The states.
const (
	// Open: all that is sent arrives.
	Open State = iota
	// Down: connections are reset, and refused.
	Down
	// Silent: nothing that the session sends arrives.
	Silent
)

// Line is the way of one session to the server. Its methods may be called from any goroutine.
type Line struct {
	server *embedded.Server

	mu    sync.Mutex
	state State
	conns []net.Conn
}

// NewLine makes a line that is open.
func NewLine(server *embedded.Server) *Line { return &Line{server: server} }

var errDown = errors.New("the line is down")

// Dial is the dialer of the session.
func (l *Line) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == Down {
		return nil, errDown
	}
	conn, err := l.server.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conns = append(l.conns, conn)
	return &wire{conn, l}, nil
}

// Be changes the state. Connections from before a line is down, or open again, are reset.
func (l *Line) Be(to State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == to {
		return
	}
	l.state = to
	if to == Silent {
		return
	}
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

// wire is a connection of a line.
type wire struct {
	net.Conn
	line *Line
}

// Write swallows what is sent into silence.
func (w *wire) Write(p []byte) (int, error) {
	w.line.mu.Lock()
	mute := w.line.state == Silent
	w.line.mu.Unlock()
	if mute {
		return len(p), nil
	}
	return w.Conn.Write(p)
}
