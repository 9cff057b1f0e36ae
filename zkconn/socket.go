package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/go-zookeeper/zk"
)

// dialOne makes one connection; name is the host as it was configured, by which TLS verifies it.
func (c Config) dialOne(ctx context.Context, network, address, name string) (_ net.Conn, err error) {
	defer recovered(&err, errDialerPanicked)
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

// closeSocket closes a connection, also under TLS, whose own Close may wait for five seconds to say
// goodbye to a dead server.
func closeSocket(conn net.Conn) error {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn().Close()
	}
	return conn.Close()
}

func hungUp(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, syscall.ECONNRESET) || errors.Is(cause, syscall.EPIPE)
}

// lastLoss says how the newest connection with a session was lost: ErrHungUp, ErrNoAnswer, or nil
// for another way.
type lastLoss struct{ how atomic.Pointer[error] }

// note takes the cause for which a connection is given up, before requests without an answer end.
func (l *lastLoss) note(cause error) {
	how := error(nil)
	var timeout net.Error
	switch {
	case hungUp(cause):
		how = ErrHungUp
	case errors.As(cause, &timeout) && timeout.Timeout():
		how = ErrNoAnswer
	}
	l.how.Store(&how)
}

func (l *lastLoss) of(cause error) error {
	if how := l.how.Load(); how != nil && errors.Is(cause, zk.ErrConnectionClosed) {
		return *how
	}
	return nil
}
