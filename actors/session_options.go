package actors

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

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
	switchedOff coordinator.Switches
	sessionFile string // "" for none
	meters      metric.MeterProvider
	labels      metering.Labels
	bounds      coordinator.Bounds
}

// WithMeterProvider gives the session's figures to a MeterProvider: package metering lists them. By
// default it is the actor system's (actor.WithMetricProviders); nil turns the figures off.
//
// One in the actor system also turns on protoactor's own figures: spawning and stopping an actor
// then took 27 to 34 µs, not 9 µs. They go to the global MeterProvider (otel.SetMeterProvider);
// without one, protoactor keeps 2 KB of each actor for good, and a lock request is an actor.
func WithMeterProvider(to metric.MeterProvider) SessionOption {
	return func(o *sessionOptions) error { o.meters = to; return nil }
}

// WithMeterLabels adds attributes, such as the lock path's first element, to the figures of locks.
// The function must give few different answers: each is a series of its own. It is called once for
// each request, from any goroutine.
func WithMeterLabels(of metering.Labels) SessionOption {
	return func(o *sessionOptions) error { o.labels = of; return nil }
}

// withoutVariable names fast paths that are switched off in a process, to find out in the field
// whether one is to blame, and to run test suites without it.
const withoutVariable = "TURNSTILE_WITHOUT"

func (o *sessionOptions) heedEnvironment() error {
	names := os.Getenv(withoutVariable)
	off, err := coordinator.ParseSwitches(names)
	if err != nil {
		return fmt.Errorf("environment variable %s: %w: %w", withoutVariable, zkconn.ErrBadConfig, err)
	}
	if o.switchedOff = off; off != 0 {
		o.log.Info("fast paths are switched off", logkeys.FastPaths, names)
	}
	return nil
}

// ErrSessionFull: the session's ephemeral nodes weigh as much as they may. Nothing was sent. It may
// pass: see WithMaxNodeBytes.
var ErrSessionFull = errors.New("turnstile: the session has as many nodes as it may have")

// WithMaxWaiting bounds the requests of this session that wait in one queue, 256 by default; n must
// be above zero. Holders do not count. A request beyond it ends with messages.ReasonQueueFull,
// before anything is sent: longer queues make listings that Java's clients refuse.
//
// Calls of package locks beyond it wait inside their client, in order, unseen by other sessions,
// and come behind requests of other sessions that queue meanwhile.
func WithMaxWaiting(n int) SessionOption {
	return func(o *sessionOptions) error {
		if n < 1 {
			return fmt.Errorf("turnstile: WithMaxWaiting: %w: %d nodes", zkconn.ErrBadConfig, n)
		}
		o.bounds.Waiting = n
		return nil
	}
}

// WithMaxNodeBytes bounds the weight of all ephemeral nodes of this session; without it that is 512
// KiB. A node, also the guard of a contest, weighs the length of its path, with the chroot, and
// four bytes: its size in the transaction that ends the session. Servers whose jute.maxbuffer
// (usually 1 MiB) is smaller than that cannot read it, and do not start again (ZOOKEEPER-4306).
// Keep the bound at half of jute.maxbuffer.
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

// ErrSessionFileInUse: a session that lives, of this process or of another, uses the session file.
var ErrSessionFileInUse = sessionfile.ErrInUse

// WithSessionFile keeps the session's id and password in a file while the session lives. A process
// that restarts after a crash, with the same file, closes its predecessor's session: those locks
// are free after a few round trips, instead of a session timeout.
//
// A missing file is made, in an existing folder. It must be the user's own, with no access for
// others (mode 0600), a regular file and no symbolic link, on a local disk of the one host; in a
// container, on a volume that outlives it. A file that another host wrote, or this one before a
// reboot, is ignored. See package sessionfile.
//
// StartSession wraps zkconn.ErrBadConfig for a file that breaks these rules, and
// ErrSessionFileInUse for one in use. A later failure to write is logged, and the session goes on.
//
// Ready waits until the predecessor's session is closed and our own is in the file, for some
// seconds at most; without Ready a lock actor may meet the predecessor's nodes. For
// messages.Acquire.Reclaim that session stays open for a session timeout from the first restart.
//
// Requests of the dead process to other services may still arrive there: fencing tokens protect
// those.
func WithSessionFile(path string) SessionOption {
	return func(o *sessionOptions) error {
		if path == "" {
			return fmt.Errorf("session file %q: must not be empty: %w", path, zkconn.ErrBadConfig)
		}
		o.sessionFile = path
		return nil
	}
}

// FastPaths names the ways in which a session saves requests or time: "group-commit", "hand-over" and so on. The environment
// variable TURNSTILE_WITHOUT has those that are switched off, between commas. What is promised stays.
func FastPaths() []string { return coordinator.FastPaths() }
