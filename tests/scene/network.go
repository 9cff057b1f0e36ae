package scene

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// NetworkState is the state of a Network.
type NetworkState int

// The states.
const (
	// Up: all that is sent arrives.
	Up NetworkState = iota
	// Down: connections are reset, and refused.
	Down
	// Silent: nothing that the session sends arrives.
	Silent
)

// Network is the way of sessions to an embedded server. Its methods may be called from any goroutine.
type Network struct {
	// Server is the server.
	Server *embedded.Server

	mu    sync.Mutex
	state NetworkState
	open  []net.Conn
	tried int // during the outage
}

var errDown = errors.New("connection refused, in an outage")

// Dial is the dialer of sessions.
func (d *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == Down {
		d.tried++
		return nil, errDown
	}
	conn, err := d.Server.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.open = append(d.open, conn)
	return &wire{conn, d}, nil
}

// Be changes the state. Connections from before a network is down, or open again, are reset.
func (d *Network) Be(to NetworkState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == to && to != Down {
		return
	}
	d.state = to
	if to == Silent {
		return
	}
	for _, conn := range d.open {
		_ = conn.Close()
	}
	d.open = nil
}

// Refuse has attempts to connect refused from now on, or accepted again. Open connections stay
// open.
func (d *Network) Refuse(down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = Up
	if down {
		d.state = Down
	}
}

// Outage lasts that long, and tells how many attempts to connect there were.
func (d *Network) Outage(length time.Duration) (tried int) {
	d.mu.Lock()
	d.tried = 0
	d.mu.Unlock()
	d.Be(Down)
	time.Sleep(length)
	d.mu.Lock()
	tried = d.tried
	d.mu.Unlock()
	d.Be(Up)
	return tried
}

// Connected counts the connections since the last outage.
func (d *Network) Connected() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// wire is a connection of a network.
type wire struct {
	net.Conn
	over *Network
}

// Write swallows what is sent into silence.
func (w *wire) Write(p []byte) (int, error) {
	w.over.mu.Lock()
	mute := w.over.state == Silent
	w.over.mu.Unlock()
	if mute {
		return len(p), nil
	}
	return w.Conn.Write(p)
}
