package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// dial is what the library calls to reach the server that hosts has just handed it. timeout, a second, is the
// library's and is passed over for one that depends on the session timeout. In a hurry it may reach another server.
func (c *Conn) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	t, err := c.reach(network)
	if err != nil {
		return nil, c.notReached(c.hosts.currentHost(), err)
	}
	return t, nil
}

// notReached takes note of an attempt that failed. In a hurry there are many: the first round is logged as usual.
func (c *Conn) notReached(h host, cause error) error {
	err := fmt.Errorf("dial %s: %w", h.label, cause)
	if c.gate.isShut() {
		return err
	}
	level := slog.LevelWarn
	if c.hosts.rounds > 1 && c.hosts.haste.urgent() {
		level = slog.LevelDebug
	}
	c.session.note(err)
	c.log.Log(context.Background(), level, "zookeeper server not reached", logkeys.Server, h.label, logkeys.Error, err)
	return err
}

func (c *Conn) reach(network string) (*transport, error) {
	if c.guard.over.Load() {
		return nil, errEpochOver
	}
	conn, err := c.connect(network)
	if err != nil {
		return nil, err
	}
	patience := c.hosts.haste.handshake(c.cfg.handshakeTimeout(), len(c.cfg.servers))
	t := newTransport(conn, c.hosts.label(), patience, &c.guard, &c.watches, c, c.lease)
	t.idleSync = !c.cfg.withoutIdleSyncs
	if !c.link.adopt(t) {
		_ = conn.Close()
		return nil, ErrClosed
	}
	return t, nil
}

// connect dials the current host, or in a hurry several until one is connected, which then is the current one.
func (c *Conn) connect(network string) (net.Conn, error) {
	current := c.hosts.currentHost()
	if !c.hosts.haste.urgent() {
		return c.dialHost(c.dialing, network, current)
	}
	conn, current, err := c.race(network, current)
	c.hosts.choose(current)
	return conn, err
}

// dialHost makes one attempt.
func (c *Conn) dialHost(ctx context.Context, network string, h host) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.dialTimeout())
	defer cancel()
	c.log.Debug("dialing zookeeper server", logkeys.Server, h.label)
	return c.cfg.dialOne(ctx, network, h.address, h.name)
}

// dialOne makes one connection; name is the host as it was configured, by which TLS verifies it.
func (c Config) dialOne(ctx context.Context, network, address, name string) (net.Conn, error) {
	dial := c.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return nil, errors.New("the dialer returned no connection")
	}
	if c.tls == nil {
		return conn, nil
	}
	settings := c.tls
	if settings.ServerName == "" {
		settings = settings.Clone()
		settings.ServerName = name
	}
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secured, nil
}

// closeSocket closes a connection, also under TLS, whose own Close may wait for five seconds to say goodbye to a dead
// server.
func closeSocket(conn net.Conn) error {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn().Close()
	}
	return conn.Close()
}

// link knows the newest transport, so that others than the library can cut it.
type link struct {
	mu      sync.Mutex
	current *transport
	closed  bool
}

// adopt makes t the newest; not once the link was closed. The library leaves the connection open that told it of an
// expiry: whatever came before t is cut.
func (l *link) adopt(t *transport) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.cutLocked()
	l.current = t
	return true
}

// close refuses further transports and cuts one that has no session yet; one that has is left for the library to say
// goodbye on.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.current != nil && !l.current.established.Load() {
		l.cutLocked()
	}
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutLocked()
}

func (l *link) cutLocked() {
	if l.current != nil {
		_ = l.current.Close()
	}
}
