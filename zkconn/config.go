package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

const (
	// DefaultSessionTimeout is the session timeout that servers are asked for.
	DefaultSessionTimeout = 10 * time.Second
	// DefaultInitialBackoff is the wait after the first round in which no server could be reached.
	DefaultInitialBackoff = 50 * time.Millisecond
	// DefaultMaxBackoff bounds the wait between rounds.
	DefaultMaxBackoff = 5 * time.Second
)

// Config says how to reach an ensemble. It is immutable, and made by NewConfig.
type Config struct {
	servers        []string
	chroot         string
	timeout        time.Duration
	credentials    []credential
	sasl           func() SASLMechanism // nil for none; a function, so that no printer finds its secrets
	acl            []ACL
	parentACL      func(absolute string) []ACL // nil for the ACL of the contender nodes
	tls            *tls.Config
	logger         *slog.Logger
	logs           bool
	told           told.Log
	dial           dialFunc
	initialBackoff time.Duration
	maxBackoff     time.Duration

	serverTick       time.Duration
	withoutIdleSyncs bool
	suspended        func() time.Duration
	shortest         *lease.Shortest // of all sessions with this Config
	removals         *watchRemovals  // likewise
	found            *foundServers   // likewise; nil without WithReconfig
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

type credential struct {
	scheme string
	secret []byte
}

// ACL is one entry of a node's access control list.
type ACL = zk.ACL

// NewConfig checks its arguments and makes the Config that Dial needs. servers is a connect string:
// "h1:2181,h2:2181,[::1]:2181/chroot". The port is 2181 by default; every path is relative to the
// chroot. A value that breaks a rule gives ErrBadConfig and a text that names both.
func NewConfig(servers string, opts ...Option) (Config, error) {
	list, chroot, err := parseServers(servers)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		servers:        list,
		chroot:         chroot,
		timeout:        DefaultSessionTimeout,
		acl:            zk.WorldACL(zk.PermAll),
		logger:         slog.New(slog.DiscardHandler),
		told:           told.NewLog(),
		initialBackoff: DefaultInitialBackoff,
		maxBackoff:     DefaultMaxBackoff,
		shortest:       new(lease.Shortest),
		removals:       new(watchRemovals),
	}
	for _, opt := range opts {
		if opt == nil {
			return Config{}, fmt.Errorf("%w: option: must not be nil", ErrBadConfig)
		}
		if err := opt(&c); err != nil {
			return Config{}, err
		}
	}
	if err := c.checkIdentity(); err != nil {
		return Config{}, err
	}
	if c.found != nil && c.tls != nil {
		return Config{}, fmt.Errorf("%w: WithReconfig and WithTLS: servers tell the addresses of their plain ports only", ErrBadConfig)
	}
	return c, nil
}

// Servers gives the servers as host:port, in the order in which they were given.
func (c Config) Servers() []string { return slices.Clone(c.servers) }

// Chroot gives the path that every path is relative to; empty without a chroot.
func (c Config) Chroot() string { return c.chroot }

// SessionTimeout gives the timeout that servers are asked for; they may grant another.
func (c Config) SessionTimeout() time.Duration { return c.timeout }

// IdleSyncs reports whether the chain of evidence is kept while no lease is to last: not with
// WithoutIdleSyncs.
func (c Config) IdleSyncs() bool { return !c.withoutIdleSyncs }

// Logger gives the logger; never nil in a Config made by NewConfig. Records reach the handler on
// another goroutine (package told): Told waits for them.
func (c Config) Logger() *slog.Logger { return c.logger }

// AlarmLogger gives the logger for lines that must be seen: that of WithLogger, or else
// slog.Default.
func (c Config) AlarmLogger() *slog.Logger {
	if c.logs {
		return c.logger
	}
	return c.told.Logger(slog.Default())
}

// Told is the queue of what is logged with this Config.
func (c Config) Told() told.Log { return c.told }

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("zkconn.Config{servers: %q, chroot: %q, session timeout: %v, credentials: %d, TLS: %t, SASL: %t}",
		c.servers, c.chroot, c.timeout, len(c.credentials), c.tls != nil, c.sasl != nil)
}

// GoString is String, so that %#v prints no secrets.
func (c Config) GoString() string { return c.String() }

func (c Config) made() bool { return len(c.servers) > 0 }

// tried counts the servers of a round.
func (c Config) tried() int { return len(c.servers) + len(c.found.list()) }

// dialTimeout bounds one attempt to reach a server, with TLS: the server's share of the session
// timeout, as in Java's client, within what a network needs and a lease can bear.
func (c Config) dialTimeout() time.Duration {
	share := c.timeout / time.Duration(c.tried())
	return min(max(share, 100*time.Millisecond), 2*time.Second)
}

const shortestHandshake = 200 * time.Millisecond

// handshakeTimeout bounds the wait for the connect reply, because even a stopped process accepts
// connections; the library waits for 6.7 session timeouts. It is a third of the server's share of
// the session timeout, at least a second or the whole share, and never less than a round trip may
// take, because servers grant more than a very short timeout asks for.
func (c Config) handshakeTimeout() time.Duration {
	share := c.timeout / time.Duration(3*c.tried())
	return max(share, min(c.timeout, time.Second), shortestHandshake)
}

// ticketTimeout bounds a SASL mechanism's Start. A server hangs up on a connection without a
// session after ten seconds (NIOServerCnxnFactory's sessionlessCnxnTimeout).
func (c Config) ticketTimeout() time.Duration {
	return min(max(c.timeout/3, shortestHandshake), 5*time.Second)
}

// aclOfParent gives the list for a new parent. A panic of the user's function is like an invalid
// list.
func (c Config) aclOfParent(absolute string) (acl []ACL, err error) {
	defer recovered(&err, errACLPanicked)
	if c.parentACL != nil {
		if acl := c.parentACL(absolute); len(acl) > 0 {
			return acl, nil
		}
	}
	return c.acl, nil
}

// Panics of the user's functions: the error of the connection, or request, that needed one.
var (
	errDialerPanicked = errors.New("the dialer, or a function of the TLS configuration, panicked")
	errSASLPanicked   = errors.New("the SASL mechanism panicked")
	errACLPanicked    = fmt.Errorf("%w: the function of WithParentACLFunc panicked", zk.ErrInvalidACL)
)

func recovered(err *error, panicked error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", panicked, r)
	}
}

// checkIdentity refuses ACLs with the scheme "auth", "all my identities", where the client has
// none: servers find those invalid. TLS, or a dialer, may have a certificate.
func (c Config) checkIdentity() error {
	if len(c.credentials) > 0 || c.sasl != nil || c.tls != nil || c.dial != nil {
		return nil
	}
	if slices.ContainsFunc(c.acl, func(entry ACL) bool { return entry.Scheme == "auth" }) {
		return fmt.Errorf(`%w: ACL with the scheme "auth": needs a credential (WithAuth, WithSASL) or a client certificate `+
			`(WithTLS)`, ErrBadConfig)
	}
	return nil
}

const defaultPort = "2181"

func parseServers(connect string) (servers []string, chroot string, err error) {
	if scheme, rest, has := strings.Cut(connect, "://"); has {
		return nil, "", fmt.Errorf("%w: servers %q: no scheme belongs there: %q in place of %q",
			ErrBadConfig, connect, rest, scheme+"://"+rest)
	}
	list, root, hasRoot := strings.Cut(connect, "/")
	if strings.TrimSpace(list) == "" {
		return nil, "", fmt.Errorf("%w: servers %q: must name at least one server", ErrBadConfig, connect)
	}
	for entry := range strings.SplitSeq(list, ",") {
		server, rule := parseServer(strings.TrimSpace(entry))
		if rule != "" {
			return nil, "", fmt.Errorf("%w: server %q in %q: %s", ErrBadConfig, entry, connect, rule)
		}
		servers = append(servers, server)
	}
	if !hasRoot || root == "" {
		return servers, "", nil
	}
	chroot = "/" + strings.TrimSuffix(root, "/")
	// "h1/a,h2/a" would otherwise be one server with the chroot "/a,h2/a": locks that exclude nobody.
	if strings.Contains(chroot, ",") {
		return nil, "", fmt.Errorf("%w: chroot %q: comes once, behind the last server", ErrBadConfig, chroot)
	}
	if err := CheckPath(chroot); err != nil {
		return nil, "", fmt.Errorf("%w: chroot: %w", ErrBadConfig, err)
	}
	return servers, chroot, nil
}

func parseServer(entry string) (server, rule string) {
	if strings.ContainsFunc(entry, func(r rune) bool { return r == ';' || unicode.IsSpace(r) }) {
		return "", "servers are separated by commas"
	}
	host, port := entry, defaultPort
	bracketed := strings.HasPrefix(entry, "[")
	switch {
	case bracketed && strings.HasSuffix(entry, "]"):
		host = entry[1 : len(entry)-1]
	case bracketed || strings.Contains(entry, ":"):
		if !bracketed && strings.Count(entry, ":") > 1 {
			return "", "an IPv6 address stands in brackets"
		}
		var err error
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return "", "must be host, host:port or [address]:port"
		}
	}
	if host == "" {
		return "", "host must not be empty"
	}
	if bracketed && !strings.Contains(host, ":") {
		return "", "only an IPv6 address stands in brackets"
	}
	if strings.ContainsFunc(host, func(r rune) bool { return unicode.IsControl(r) || r == '[' || r == ']' }) {
		return "", "host must not contain control characters or brackets"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", fmt.Sprintf("port %q must be a number from 1 to 65535", port)
	}
	return net.JoinHostPort(host, strconv.FormatUint(number, 10)), ""
}

// Option sets one thing of a Config; a value that breaks a rule makes NewConfig fail with ErrBadConfig.
type Option func(*Config) error
