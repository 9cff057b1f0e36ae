package bubble

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Network reaches an embedded server except during an outage, when connections are reset and refused.
type Network struct {
	// Server is the server.
	Server *embedded.Server

	mu    sync.Mutex
	down  bool
	open  []net.Conn
	tried int // during the outage
}

// Dial is the dialer of sessions.
func (d *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		d.tried++
		return nil, errors.New("connection refused, in an outage")
	}
	conn, err := d.Server.DialContext(ctx, network, address)
	if err == nil {
		d.open = append(d.open, conn)
	}
	return conn, err
}

// Refuse has attempts to connect refused from now on, or accepted again. Open connections stay
// open.
func (d *Network) Refuse(down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = down
}

// Outage lasts that long, and tells how many attempts to connect there were.
func (d *Network) Outage(length time.Duration) (tried int) {
	d.mu.Lock()
	d.down, d.tried = true, 0
	for _, conn := range d.open {
		_ = conn.Close()
	}
	d.open = nil
	d.mu.Unlock()
	time.Sleep(length)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = false
	return d.tried
}

// End ends all connections, for good.
func (d *Network) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = true
	for _, conn := range d.open {
		_ = conn.Close()
	}
}

// Connected counts the connections since the last outage.
func (d *Network) Connected() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}
