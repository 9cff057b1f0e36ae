package actors

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// SessionOption changes how a session works.
type SessionOption func(*sessionOptions) error

type sessionOptions struct {
	log         *slog.Logger
	switchedOff FastPath
	sessionFile string // "" for none
	meters      metric.MeterProvider
	labels      metering.Labels
	bounds      coordinator.Bounds // zero is the usual
}

// WithMeterProvider gives the session's figures to a MeterProvider: package metering lists them. By
// default it is the actor system's (actor.WithMetricProviders); nil turns the figures off. It is
// given to the session alone.
//
// With one in the actor system, a program also gets protoactor's own figures, of every actor. They
// have a price: spawning and stopping an actor took three to four times as long (9 µs without, 27
// to 34 µs with). They go to the global MeterProvider (otel.SetMeterProvider), whichever was given.
// Without a global one, protoactor keeps 2 KB of each actor for good, and a lock request is an actor.
func WithMeterProvider(to metric.MeterProvider) SessionOption {
	return func(o *sessionOptions) error { o.meters = to; return nil }
}

// WithMeterLabels adds attributes to the figures of locks. The function makes them of a lock path,
// such as its first element. It must give few different answers: each is a series of its own for as
// long as the program runs. It is called once for each request, from any goroutine. By default the
// figures say nothing of the path.
func WithMeterLabels(of metering.Labels) SessionOption {
	return func(o *sessionOptions) error { o.labels = of; return nil }
}

// withoutVariable names fast paths that are switched off in all sessions of a process: for finding out in the field
// whether one of them is to blame, and for running whole test suites without it.
const withoutVariable = "TURNSTILE_WITHOUT"

func (o *sessionOptions) heedEnvironment() error {
	off, err := ParseFastPaths(os.Getenv(withoutVariable))
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", withoutVariable, err)
	}
	o.switchedOff |= off
	if o.switchedOff != 0 {
		o.log.Info("fast paths are switched off", logkeys.FastPaths, o.switchedOff.String())
	}
	return nil
}

// ErrSessionFull: the ephemeral nodes of the session weigh as much as they may. Nothing was sent. It may pass: see
// WithMaxNodeBytes.
var ErrSessionFull = errors.New("turnstile: the session has as many nodes as it may have")

// WithMaxWaiting bounds the requests of this session that wait in one queue; without it they are 256.
// Holders do not count. A request beyond it ends with messages.ReasonQueueFull, before anything is
// sent: longer queues make listings that Java's clients refuse. n must be above zero.
//
// Calls of package locks beyond it wait inside their client, in the order in which they came, and
// queue as those before them leave. Other sessions see the nodes, and not the calls inside. Readers,
// and holders of permits, beyond it come behind the requests of other sessions that queue meanwhile.
func WithMaxWaiting(n int) SessionOption {
	return func(o *sessionOptions) error {
		if n < 1 {
			return fmt.Errorf("turnstile: WithMaxWaiting: %w: %d nodes", zkconn.ErrBadConfig, n)
		}
		o.bounds.Waiting = n
		return nil
	}
}

// WithMaxNodeBytes bounds the weight of all ephemeral nodes of this session together; without it that
// is 512 KiB. A node weighs the length of its path at the servers, with the chroot, and four bytes.
// That is its size in the transaction that ends the session. The guard of a contest is a node, too. A
// server whose jute.maxbuffer is smaller than that transaction cannot read it, and an ensemble of such
// servers does not start again (ZOOKEEPER-4306). The usual jute.maxbuffer is 1 MiB. Raise both
// together, and keep the bound at half of jute.maxbuffer.
//
// Where there is no room, a request ends with messages.ReasonSessionFull, before anything is sent.
// n must be above zero.
func WithMaxNodeBytes(n int) SessionOption {
	return func(o *sessionOptions) error {
		if n < 1 {
			return fmt.Errorf("turnstile: WithMaxNodeBytes: %w: %d bytes", zkconn.ErrBadConfig, n)
		}
		o.bounds.Weight = n
		return nil
	}
}

// ErrSessionFileInUse: the session file belongs to a session that lives, of this process or of another.
var ErrSessionFileInUse = sessionfile.ErrInUse

// WithSessionFile keeps the session's id and password in a file while the session lives. A process
// that is started again after a crash closes its predecessor's session, with the same file. The
// predecessor's locks are then free after a few round trips, instead of a session timeout. An
// orderly Close leaves the file empty.
//
// The file is made where it does not exist; its folder must exist. It must be the user's own, with
// no access for others (mode 0600), a regular file and no symbolic link, on a local disk of the one
// host. In a container, put it on a volume that outlives it. A file that another host wrote,
// or this one before a restart, is ignored. Package sessionfile has the rules and the reasons.
//
// StartSession fails with an error that wraps zkconn.ErrBadConfig for a file that breaks them,
// before anything is sent, and with ErrSessionFileInUse for one that a living session uses. A file
// that cannot be written later, because the disk is full, is logged, and the session goes on.
//
// Ready waits until the predecessor's session is closed and our own is in the file, for some
// seconds at most after our own session was granted. Closing goes on for as long as the
// predecessor's session timeout after that; then its session has expired by itself. A lock actor
// that does not wait for Ready may find its predecessor's nodes in the queue for a moment.
//
// Locks with messages.Acquire.Reclaim are kept. Where the predecessor has held any, its session stays open
// for a session timeout from the first restart. A request with the same key takes the lock over. Then
// the session is closed. Package sessionfile says why that is safe.
//
// The file's lock shows that the predecessor is dead: the kernel releases it with the process. So no two
// live processes close each other's sessions. Requests that the dead process had sent to other services
// may still arrive there. Fencing tokens protect those services, as they do when a session expires.
func WithSessionFile(path string) SessionOption {
	return func(o *sessionOptions) error {
		if path == "" {
			return fmt.Errorf("session file %q: must not be empty: %w", path, zkconn.ErrBadConfig)
		}
		o.sessionFile = path
		return nil
	}
}

// FastPath names a way in which a session saves requests or time. Switch one off to find out
// whether it has to do with a problem: what is promised does not change.
type FastPath uint16

// The fast paths.
const (
	// GroupCommit lets creates and deletes share transactions when there are many, and lets bursts
	// form where a session queues with others.
	GroupCommit FastPath = 1 << iota
	// HandOver grants a lock to the next request of the same session before the node of the holder
	// before is deleted.
	HandOver
	// LookAhead is for a waiter whose predecessor belongs to another session and waits itself. The
	// waiter finds out as soon as its predecessor holds. It costs one more read; the grant then needs
	// only an event.
	LookAhead
)

var fastPathNames = []string{"group-commit", "hand-over", "look-ahead"}

// FastPaths lists them all.
func FastPaths() (all []FastPath) {
	for i := range fastPathNames {
		all = append(all, 1<<i)
	}
	return all
}

// String gives the name, or names: "group-commit,hand-over".
func (f FastPath) String() string {
	var names []string
	for i, name := range fastPathNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// ParseFastPaths reads names as String writes them. The error names the unknown one.
func ParseFastPaths(names string) (f FastPath, err error) {
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := slices.Index(fastPathNames, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no fast path; there are %s: %w", name, strings.Join(fastPathNames, ", "), zkconn.ErrBadConfig)
		}
		f |= 1 << i
	}
	return f, nil
}
