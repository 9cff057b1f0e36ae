package locks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Option changes how a client works.
//
//   - Servers: [WithSessionTimeout], [WithReconnectBackoff], [WithReconfig], [WithDialer], [WithServerTick],
//     [WithSuspendedTime].
//   - Who we are, and who may do what: [WithAuth], [WithSASL], [WithTLS], [WithACL],
//     [WithParentACL], [WithParentACLFunc].
//   - Restarts: [WithSessionFile].
//   - To see what it does: [WithLogger], [WithMeterProvider], [WithMeterLabels],
//     [WithTracerProvider], [WithUnreleased].
//   - Actors: [WithActorSystem]. Load: [WithoutIdleSyncs], [WithMaxWaiting], [WithMaxNodeBytes].
type Option func(*options) error

type options struct {
	conn    []zkconn.Option
	session []actors.SessionOption
	system  *actor.ActorSystem
	log     *slog.Logger
	tracer  trace.Tracer
	open    *openLeases
}

func (o *options) ofSession() bool { return len(o.conn)+len(o.session) > 0 || o.system != nil }

func connection(opt zkconn.Option) Option {
	return func(o *options) error { o.conn = append(o.conn, opt); return nil }
}

func session(opt actors.SessionOption) Option {
	return func(o *options) error { o.session = append(o.session, opt); return nil }
}

// WithSessionTimeout asks for a session timeout, 10 s by default and at least a millisecond; the
// servers may grant another. A dead holder's lock is free after that long, and leases survive
// shorter outages (locks/guides/timeouts.md). Use it to choose between the two.
func WithSessionTimeout(d time.Duration) Option { return connection(zkconn.WithSessionTimeout(d)) }

// WithAuth adds a credential, such as "digest", "user:password". Open returns zkconn.ErrAuthFailed
// when the server refuses it. Use it where nodes have ACLs for users.
func WithAuth(scheme string, credential []byte) Option {
	return connection(zkconn.WithAuth(scheme, credential))
}

// WithSASL authenticates every connection with a SASL mechanism, such as that of package digestmd5
// or gssapi: see zkconn.WithSASL. Open returns zkconn.ErrAuthFailed when the server refuses it.
// zkconn.CreatorACL is the ACL for lock paths of its principal alone. Use it where the ensemble has
// Kerberos or DIGEST-MD5 (locks/guides/sasl.md).
func WithSASL(m zkconn.SASLMechanism) Option { return connection(zkconn.WithSASL(m)) }

// WithACL sets the ACL of every node that is made; by default anybody may do anything. Use it where
// other users of the ensemble must not delete, or see, contenders' nodes. Waiters who may not READ
// a contender's node look again once a session timeout: see zkconn.WithACL.
func WithACL(acl ...zkconn.ACL) Option { return connection(zkconn.WithACL(acl...)) }

// WithParentACL sets the ACL of lock paths and of the nodes above them, apart from that of
// contenders' nodes: see zkconn.WithParentACL. Use it where several users lock at one path.
func WithParentACL(acl ...zkconn.ACL) Option { return connection(zkconn.WithParentACL(acl...)) }

// WithParentACLFunc is WithParentACL with an ACL for each path: see zkconn.WithParentACLFunc. Use
// it where lock paths of several teams have one client.
func WithParentACLFunc(f func(path string) []zkconn.ACL) Option {
	return connection(zkconn.WithParentACLFunc(f))
}

// WithTLS connects with TLS. The server's name is taken from the server list unless the config sets
// one. Use it wherever the network is not trusted.
func WithTLS(cfg *tls.Config) Option { return connection(zkconn.WithTLS(cfg)) }

// WithDialer makes connections with dial. Use it for proxies, networks that are not TCP, and tests.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return connection(zkconn.WithDialer(dial))
}

// WithReconnectBackoff bounds the pause between two rounds through the servers when none answers:
// from initial to max, with jitter. Use it where thousands of clients would come back at once.
func WithReconnectBackoff(initial, max time.Duration) Option {
	return connection(zkconn.WithReconnectBackoff(initial, max))
}

// WithReconfig has the client try the servers of /zookeeper/config, too, beside those of the connect
// string: see zkconn.WithReconfig. Not with WithTLS. Use it where the ensemble's servers are replaced
// while programs run.
func WithReconfig() Option { return connection(zkconn.WithReconfig()) }

// WithLogger sets the logger. By default only a slow Open, and events that do not reach a waiter,
// are logged. Use it always in production.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) error {
		if log == nil {
			return errors.New("turnstile: WithLogger: the logger is nil")
		}
		o.log = log
		o.conn = append(o.conn, zkconn.WithLogger(log))
		return nil
	}
}

// WithMeterProvider gives OpenTelemetry figures of the client's locks and session to a
// MeterProvider: package metering lists them. By default it is that of WithActorSystem's system;
// nil turns them off. For protoactor's own figures see actors.WithMeterProvider. Use it to alert on
// losses and on long waits.
func WithMeterProvider(to metric.MeterProvider) Option { return session(actors.WithMeterProvider(to)) }

// WithMeterLabels puts attributes, by lock path, on the figures: see actors.WithMeterLabels. Use it
// to tell groups of locks apart.
func WithMeterLabels(of metering.Labels) Option { return session(actors.WithMeterLabels(of)) }

// WithTracerProvider makes OpenTelemetry spans; by default, and with nil, there are none. Use it to
// see how long requests wait. The parent of both is the span of Lock's context; after
// Lease.Downgrade, the downgraded hold.
//
//   - turnstile.lock.acquire lasts as long as the call of Lock. Its status is an error when the
//     lock was not acquired, with error.type as in the figures.
//   - turnstile.lock.hold lasts from the grant until the lock is given back, revoked or lost; the
//     latter two are errors. Its events are suspended, resumed and "revoke requested".
//     Lease.Context carries it, as a parent of spans of the work.
//
// Their attributes are turnstile.lock.path, turnstile.lock.mode, and from the grant on
// turnstile.lock.node, turnstile.lock.token and turnstile.session.id. Requests of a program's own
// lock actors have none.
func WithTracerProvider(from trace.TracerProvider) Option {
	return func(o *options) error {
		o.tracer = nil
		if from != nil {
			o.tracer = from.Tracer(metering.Scope)
		}
		return nil
	}
}

// WithActorSystem runs the client's actors in your actor system, which Close leaves running. By
// default the client makes one. Use it to have your actors and Turnstile's in one.
func WithActorSystem(system *actor.ActorSystem) Option {
	return func(o *options) error {
		if system == nil {
			return errors.New("turnstile: WithActorSystem: the system is nil")
		}
		o.system = system
		return nil
	}
}

// WithServerTick gives the servers' tickTime, where that is known, so that leases last longer:
// see zkconn.WithServerTick. Use it where you know the ensemble's configuration and outages are longer
// than leases.
func WithServerTick(tick time.Duration) Option { return connection(zkconn.WithServerTick(tick)) }

// WithSuspendedTime sets the source of the time for which the machine was suspended: see
// zkconn.WithSuspendedTime. Use it in tests, and on systems whose clock it does not know.
func WithSuspendedTime(suspended func() time.Duration) Option {
	return connection(zkconn.WithSuspendedTime(suspended))
}

// WithoutIdleSyncs saves the syncs that an idle client sends every sixth of a session timeout for a
// fast first lock: see zkconn.WithoutIdleSyncs. Use it where thousands of clients are idle nearly
// all the time.
func WithoutIdleSyncs() Option { return connection(zkconn.WithoutIdleSyncs()) }

// WithMaxWaiting bounds the nodes of one queue with which this client waits (back-pressure);
// further calls wait inside the client. See actors.WithMaxWaiting. Use it where others must not
// wait behind so many of one process.
func WithMaxWaiting(n int) Option { return session(actors.WithMaxWaiting(n)) }

// WithMaxNodeBytes bounds the weight of this client's nodes at the servers: see
// actors.WithMaxNodeBytes. Use it where the servers have an unusual jute.maxbuffer.
func WithMaxNodeBytes(n int) Option { return session(actors.WithMaxNodeBytes(n)) }

// WithSessionFile keeps the session's id and password in a file (mode 0600, on a local disk): see
// actors.WithSessionFile. A process that restarts after a crash first closes its predecessor's
// session, so those locks are free after a few round trips instead of a session timeout, or its own
// again with WithReclaim. Open returns ErrSessionFileInUse when a living session uses the file. Use
// it for services that a supervisor restarts on one machine.
func WithSessionFile(path string) Option { return session(actors.WithSessionFile(path)) }

// WithUnreleased reports leases that were not given back within after, above zero, of their grant,
// or before Close: each once, those that Close finds before it goes on. It keeps the stack of each
// call of Lock, which costs some microseconds. Use it in tests, and to find out why a lock stays
// held.
func WithUnreleased(after time.Duration, report func(Unreleased)) Option {
	return func(o *options) error {
		if after <= 0 || report == nil {
			return fmt.Errorf("turnstile: WithUnreleased: %w: after %v", ErrBadAcquire, after)
		}
		o.open = &openLeases{after: after, report: report, leases: map[*Lease]*openLease{}}
		return nil
	}
}
