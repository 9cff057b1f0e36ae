package zkconn

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"time"
)

// WithSessionTimeout sets the session timeout that servers are asked for, from a millisecond to
// math.MaxInt32 of them, which is what the protocol can carry. Servers grant what lies between 2
// and 20 of their ticks, unless told otherwise. The default is 10 s.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *Config) error {
		switch {
		case d <= 0:
			return fmt.Errorf("%w: session timeout %v: must be positive", ErrBadConfig, d)
		case d < time.Millisecond:
			return fmt.Errorf("%w: session timeout %v: must be at least a millisecond", ErrBadConfig, d)
		case d > math.MaxInt32*time.Millisecond:
			return fmt.Errorf("%w: session timeout %v: must be at most %v", ErrBadConfig, d, math.MaxInt32*time.Millisecond)
		}
		c.timeout = d
		return nil
	}
}

// WithAuth adds a credential that is presented at every connection; it may be given several times.
//
// Refused here are the schemes "world" and "auth", which are for ACLs and authenticate nobody, "sasl", which
// [WithSASL] is for, and a digest that is not user:password. A scheme that the server does not know, or a
// credential that it refuses, is told by an AuthFailed event.
func WithAuth(scheme string, secret []byte) Option {
	return func(c *Config) error {
		switch scheme {
		case "":
			return fmt.Errorf("%w: auth scheme %q: must not be empty", ErrBadConfig, scheme)
		case "world", "auth":
			return fmt.Errorf("%w: auth scheme %q: is for ACLs only", ErrBadConfig, scheme)
		case "sasl":
			return fmt.Errorf("%w: auth scheme %q: takes a mechanism, see WithSASL", ErrBadConfig, scheme)
		case "digest":
			// The value is not named: it is a secret.
			user, password, found := bytes.Cut(secret, []byte(":"))
			if !found || len(user) == 0 || len(password) == 0 {
				return fmt.Errorf("%w: digest credential: must be user:password", ErrBadConfig)
			}
		}
		c.credentials = append(slices.Clip(c.credentials), credential{scheme, bytes.Clone(secret)})
		return nil
	}
}

// WithTLS makes every connection a TLS connection. Where the configuration sets no ServerName, the host is verified
// by its name as given to NewConfig. The configuration is copied.
func WithTLS(cfg *tls.Config) Option {
	return func(c *Config) error {
		if cfg == nil {
			return fmt.Errorf("%w: TLS configuration: must not be nil", ErrBadConfig)
		}
		c.tls = cfg.Clone()
		return nil
	}
}

// WithLogger sets the logger; the default discards, but for what [Config.AlarmLogger] is for. Servers that are not reached are logged at
// warn. Attempts, and the events that the sink is told, are logged at debug: the owner of the sink
// logs events as it sees fit. Records have the keys epoch, server, session, timeout, path and error
// (package logkeys).
func WithLogger(l *slog.Logger) Option {
	return func(c *Config) error {
		if l == nil {
			return fmt.Errorf("%w: logger: must not be nil", ErrBadConfig)
		}
		c.logger, c.logs = l, true
		return nil
	}
}

// WithDialer sets how servers are reached; TLS, if any, is laid over the connection it returns. The
// dialer gets the servers as they were configured, with names unresolved: it may know better what
// they mean (a proxy, a pipe). It must give up when its context ends: Close waits for it. It may be
// called for several servers at once (see [Conn.Urgent]). Deadlines of its connections must work.
func WithDialer(d func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *Config) error {
		if d == nil {
			return fmt.Errorf("%w: dialer: must not be nil", ErrBadConfig)
		}
		c.dial = d
		return nil
	}
}

// WithReconnectBackoff sets the wait between rounds in which no server could be reached. It grows
// exponentially from initial to max, each wait jittered by half. The first try after a loss is made
// at once. While something is held, waits are shorter: see [Conn.Urgent]. Defaults: 50 ms and 5 s.
func WithReconnectBackoff(initial, max time.Duration) Option {
	return func(c *Config) error {
		if initial <= 0 || max < initial {
			return fmt.Errorf("%w: reconnect backoff %v to %v: must be positive and not decrease", ErrBadConfig, initial, max)
		}
		c.initialBackoff, c.maxBackoff = initial, max
		return nil
	}
}
