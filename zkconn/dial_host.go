package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// notReached takes note of an attempt that failed. Where it is urgent there are many: the first round is logged as usual.
func (c *Conn) notReached(h host, cause error) error {
	err := fmt.Errorf("dial %s: %w", h.label, cause)
	if c.gate.isShut() {
		return err
	}
	level := slog.LevelWarn
	if c.hosts.rounds > 1 && c.hosts.urgency.urgent() {
		level = slog.LevelDebug
	}
	if errors.Is(err, ErrAuthFailed) { // by a SASL mechanism, of others
		c.refused(err)
		return err
	}
	c.session.note(err)
	c.log.Log(context.Background(), level, "zookeeper server not reached", logkeys.Server, h.label, logkeys.Error, err)
	return err
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
