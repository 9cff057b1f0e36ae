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

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

func given(some bool, what string, set func(*Config)) Option {
	return func(c *Config) error {
		if !some {
			return fmt.Errorf("%w: %s: must not be nil", ErrBadConfig, what)
		}
		set(c)
		return nil
	}
}

// WithSessionTimeout sets the session timeout that servers are asked for, from a millisecond to
// math.MaxInt32 of them, the protocol's limit. Servers grant 2 to 20 of their ticks, unless told
// otherwise. The default is 10 s.
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

// WithAuth adds a credential for every connection; it may be given several times.
//
// Refused here are the schemes "world" and "auth", which authenticate nobody, "sasl" (see
// [WithSASL]), and a digest that is not user:password. An AuthFailed event tells of a scheme that
// the server does not know, and of a credential that it refuses.
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
			// The value is a secret: do not name it.
			user, password, found := bytes.Cut(secret, []byte(":"))
			if !found || len(user) == 0 || len(password) == 0 {
				return fmt.Errorf("%w: digest credential: must be user:password", ErrBadConfig)
			}
		}
		c.credentials = append(slices.Clip(c.credentials), credential{scheme, bytes.Clone(secret)})
		return nil
	}
}

// WithSASL authenticates every connection with a mechanism, before anything but the connect request
// is sent. The last one counts.
//
// Start has a third of the session timeout, five seconds at most; the exchange has the time of a
// connect request (a third of the server's share of the session timeout, or a second). [Connected]
// comes only after success.
//
//   - An answer is final: [AuthFailed], with an error that wraps ErrAuthFailed and names mechanism,
//     principal and reason, follows when the server refuses the credential twice in a row, has no
//     SASL, does not prove that it knows the password, or requires SASL of a client without it;
//     when the mechanism can make nothing of a challenge; and when Start fails with ErrAuthFailed.
//     Package actors ends the session then; a Conn by itself goes on trying, with backoff.
//   - Silence may pass: a connection that is lost in the exchange, a server that says nothing, and
//     a Start that fails otherwise (a KDC or a DNS that does not answer) are like servers that
//     cannot be reached. [Conn.LastError] names the cause. A session whose client cannot
//     authenticate is left to expire: a Start that fails does not touch it, and where no exchange
//     has succeeded for a session timeout, and the lease is over, the next attempt waits for that.
//     [CloseSession] lets the session of another expire likewise.
//
// Twice in a row, because 3.8.0 mixes up users who authenticate with DIGEST-MD5 at the same moment
// (SaslServerCallbackHandler keeps the user's name for all connections): it refused 2 right
// passwords in 11 000 with 16 clients that did nothing else.
//
// Answers to SASL requests are no evidence for the lease: servers give them by themselves
// (ZooKeeperServer.processSasl).
func WithSASL(m SASLMechanism) Option {
	return func(c *Config) error {
		if m == nil {
			return fmt.Errorf("%w: SASL mechanism: must not be nil", ErrBadConfig)
		}
		if m.Name() == "" {
			return fmt.Errorf("%w: SASL mechanism: name %q: must not be empty", ErrBadConfig, "")
		}
		c.sasl = func() SASLMechanism { return m }
		return nil
	}
}

// WithTLS connects with TLS. Without a ServerName in cfg, the host is verified by its name as given
// to NewConfig. cfg is copied.
func WithTLS(cfg *tls.Config) Option {
	return given(cfg != nil, "TLS configuration", func(c *Config) { c.tls = cfg.Clone() })
}

// WithLogger sets the logger; the default discards all but alarms ([Config.AlarmLogger]). Unreached
// servers are logged at warn; attempts and events at debug. See package logkeys for the keys, told
// for the queue.
func WithLogger(l *slog.Logger) Option {
	return given(l != nil, "logger", func(c *Config) { c.logger, c.logs = c.told.Logger(l), true })
}

// WithDialer sets how servers are reached; TLS, if any, comes on top. It gets the servers as
// configured, names unresolved, perhaps several at once (see [Conn.Urgent]). It must give up when
// its context ends: Close waits for it. Deadlines of its connections must work.
func WithDialer(d func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return given(d != nil, "dialer", func(c *Config) { c.dial = d })
}

// WithReconnectBackoff sets the wait between rounds that reach no server. It grows exponentially
// from initial to max, jittered by half. The first try after a loss is made at once. For shorter
// waits while something is held see [Conn.Urgent]. Defaults: 50 ms and 5 s.
func WithReconnectBackoff(initial, max time.Duration) Option {
	return func(c *Config) error {
		if initial <= 0 || max < initial {
			return fmt.Errorf("%w: reconnect backoff %v to %v: must be positive and not decrease", ErrBadConfig, initial, max)
		}
		c.initialBackoff, c.maxBackoff = initial, max
		return nil
	}
}

// CreatorACL allows everything to the creator of a node, and nothing to others: Curator's and
// ZooKeeper's CREATOR_ALL_ACL. The server replaces it by every identity of the connection: of
// WithSASL, of WithAuth ("digest") and of a certificate.
func CreatorACL() []ACL { return zk.AuthACL(zk.PermAll) }

// SASLACL gives permissions to a client with that SASL id: the user of DIGEST-MD5; the principal of
// Kerberos as the servers know it, which is user/host@REALM, or less of it
// (kerberos.removeHostFromPrincipal, kerberos.removeRealmFromPrincipal).
func SASLACL(permissions int32, id string) ACL {
	return ACL{Perms: permissions, Scheme: "sasl", ID: id}
}

// WithACL sets the access control list of every node that is made, parents included unless
// WithParentACL or WithParentACLFunc says otherwise; the default is everything for everyone.
//
// Waiters behind a contender whose node they may not READ look again once a session timeout. An
// entry for everyone with PermRead spares them that, and shows them the owner's host and label.
func WithACL(acl ...ACL) Option {
	return func(c *Config) error {
		if err := checkACL("ACL", acl); err != nil {
			return err
		}
		c.acl = slices.Clone(acl)
		return nil
	}
}

// WithParentACL sets the access control list of new lock paths, the nodes above them, and the
// chroot. Clients that lock there need PermRead, PermCreate and PermDelete, and the first of a
// semaphore PermWrite. Existing nodes keep their list. The last of WithParentACL and
// WithParentACLFunc counts.
func WithParentACL(acl ...ACL) Option {
	return func(c *Config) error {
		if err := checkACL("parent ACL", acl); err != nil {
			return err
		}
		kept := slices.Clone(acl)
		c.parentACL = func(string) []ACL { return kept }
		return nil
	}
}

// WithParentACLFunc is WithParentACL with a list for each path. f is given the path at the server,
// with the chroot; where it gives no entry, WithACL's list is taken. Several goroutines call it at
// once. A list that the server finds invalid fails the request.
func WithParentACLFunc(f func(path string) []ACL) Option {
	return given(f != nil, "function for parents' ACLs", func(c *Config) { c.parentACL = f })
}

// checkACL refuses an ACL that no server accepts, or that allows nobody anything.
func checkACL(what string, acl []ACL) error {
	if len(acl) == 0 {
		return fmt.Errorf("%w: %s %v: must have an entry", ErrBadConfig, what, acl)
	}
	for _, entry := range acl {
		switch {
		case entry.Perms <= 0 || entry.Perms > zk.PermAll:
			return fmt.Errorf("%w: %s: permissions %d: must be some of the five bits of zk.PermAll", ErrBadConfig, what, entry.Perms)
		case entry.Scheme == "":
			return fmt.Errorf("%w: %s: scheme %q: must not be empty", ErrBadConfig, what, entry.Scheme)
		case entry.Scheme == "world" && entry.ID != "anyone":
			return fmt.Errorf(`%w: %s: id %q of the scheme "world": must be "anyone"`, ErrBadConfig, what, entry.ID)
		}
	}
	return nil
}

// WithServerTick gives the servers' tickTime, so that leases last longer: the default allows for a
// tick of half the session timeout. No server may have a longer tick, or two clients may hold one
// lock.
func WithServerTick(tick time.Duration) Option {
	return func(c *Config) error {
		if tick <= 0 {
			return fmt.Errorf("%w: server tick %v: must be positive", ErrBadConfig, tick)
		}
		c.serverTick = tick
		return nil
	}
}

// WithoutIdleSyncs sends no syncs while no lease is to last. By default one goes out every sixth of
// a session timeout, so the first lock after a pause takes one round trip. Without them, after a
// pause of half a session timeout, it begins another session, three round trips more: no proof
// would come before the chain of evidence breaks, at 0.9 of a session timeout.
func WithoutIdleSyncs() Option {
	return func(c *Config) error { c.withoutIdleSyncs = true; return nil }
}

// WithSuspendedTime sets the source of the time for which the machine has been suspended. It must
// never give less than before, and be safe for concurrent use. A panic, or a call of more than a
// second, ends the session's leases. By default the system's clocks tell: CLOCK_BOOTTIME on Linux;
// elsewhere the time that the wall clock gains on the monotonic one.
func WithSuspendedTime(suspended func() time.Duration) Option {
	return given(suspended != nil, "suspended time", func(c *Config) { c.suspended = lease.Answering(suspended) })
}
