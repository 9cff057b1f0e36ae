package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// ErrSessionClosed: the session was closed, or has ended for good.
var ErrSessionClosed = errors.New("turnstile: the session is closed")

// Session is the handle of a session actor. Its methods may be called from any goroutine.
type Session struct {
	pid    *actor.PID
	system *actor.ActorSystem
	cfg    zkconn.Config
	opts   sessionOptions
	file   *sessionfile.Successor // nil without one

	ready     chan struct{} // closed at the first connection
	readyOnce sync.Once
	stopped   chan struct{} // closed when the actor takes no more messages
	ended     chan struct{} // closed when all that it started has ended too
	current   atomic.Pointer[sessionInfo]
	conn      atomic.Pointer[zkconn.Conn]
	failure   atomic.Pointer[error]
	cause     atomic.Pointer[error] // the connection's last, once that was let go of
	closed    error                 // of closing the connection; set before ended is closed
	registry  registry
	workers   *mailbox.Workers
	listened  *actor.Props // of the lock actors of SpawnLock
	phase     phases
	troubles  troubles
	stale     atomic.Int64
	polls     atomic.Int64
	unowned   atomic.Int64
	weight    atomic.Int64     // of its ephemeral nodes
	inside    atomic.Int64     // requests that wait without a node
	figures   *figures.Figures // nil where nothing is counted
	last      lastThings
}

// PID is the session actor's address.
func (s *Session) PID() *actor.PID { return s.pid }

// Servers lists the servers, each as host and port, in order.
func (s *Session) Servers() []string { return slices.Sorted(slices.Values(s.cfg.Servers())) }

// Absolute gives a path as the servers know it, chroot and all.
func (s *Session) Absolute(path string) string { return s.cfg.Chroot() + path }

// Ready waits until the session exists. It returns the error of ctx, or of the session when it has
// failed for good, with the servers and the last cause.
func (s *Session) Ready(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-s.ended:
		return s.explain(s.Err())
	case <-ctx.Done():
		return s.explain(ctx.Err())
	}
}

// Err is why the session has ended for good: ErrSessionClosed, zkconn.ErrAuthFailed; nil while it has
// not.
func (s *Session) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// explain adds the servers and the last cause to an error.
func (s *Session) explain(err error) error {
	servers := strings.Join(s.cfg.Servers(), ",")
	if cause := s.lastCause(); cause != nil && !errors.Is(err, cause) {
		// Not %w: a dial that timed out must not make this a DeadlineExceeded.
		return fmt.Errorf("turnstile: no session with %s: %w (last cause: %v)", servers, err, cause)
	}
	return fmt.Errorf("turnstile: no session with %s: %w", servers, err)
}

func (s *Session) lastCause() error {
	if conn := s.conn.Load(); conn != nil {
		return conn.LastError()
	}
	if p := s.cause.Load(); p != nil {
		return *p
	}
	return nil
}

// letGo keeps a handle of a session that has ended from keeping its actor, its connection, and all
// that they remember.
//
// self is the actor's PID as the actor knows it: it may end before the call that spawned it has returned.
func (s *Session) letGo(self *actor.PID) {
	cause := s.lastCause()
	s.cause.Store(&cause)
	s.conn.Store(nil)
	// A PID keeps the process that it was last sent to, until it is used after the end of that.
	s.system.Root.Send(self, leaving{})
}

// Explain adds to err what the session knows of its servers when it is not connected; otherwise it
// returns err unchanged. Callers use it for errors after which they give up.
func (s *Session) Explain(err error) error {
	if l := s.current.Load(); l != nil && l.session != 0 && s.lastCause() == nil {
		return err
	}
	return s.explain(err)
}

// Close ends the session at the server, which deletes all its nodes, and waits until the actor and
// all that it started have ended, or ctx has. Locks that are held are Lost. The functions of
// BeforeClose run first.
//
// It returns an error that wraps zkconn.ErrSessionRemains, and logs a warning, when no server has
// said that the session is closed, as with a link that is cut. Others then wait for its locks until
// it expires. Everything in this process has ended even so. Closing again gives the same answer.
func (s *Session) Close(ctx context.Context) error {
	select {
	case <-s.ended:
	default:
		s.last.run(func() { s.system.Root.Send(s.pid, &shutdown{}) })
	}
	var err error
	select {
	case <-s.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	select {
	case <-s.ended: // both: what happened counts
		err = s.closed
	default:
	}
	if err != nil {
		return fmt.Errorf("turnstile: closing the session: %w", err)
	}
	return nil
}

// Clock gives the lease clock of an epoch. That of an epoch that is over is never valid.
func (s *Session) Clock(epoch uint64) *zkconn.LeaseClock {
	if l := s.current.Load(); l != nil && l.epoch == epoch {
		return l.clock
	}
	over := zkconn.NewLeaseClock(nil)
	over.End()
	return over
}

// ID is the ZooKeeper session id; zero before the first connection.
func (s *Session) ID() int64 {
	if l := s.current.Load(); l != nil {
		return l.session
	}
	return 0
}

// LastWord is how long news of an end may take from a lock actor to a goroutine that waits for it.
func (s *Session) LastWord() time.Duration { return 100 * time.Millisecond }

// HasFile tells whether the session keeps its password in a file: see WithSessionFile.
func (s *Session) HasFile() bool { return s.file != nil }

// Timeout is the shortest session timeout that a server has granted the session. Before the first
// connection, and once the session has ended, it is the one that is asked for.
func (s *Session) Timeout() time.Duration {
	if conn := s.conn.Load(); conn != nil {
		return conn.SessionTimeout()
	}
	return s.cfg.SessionTimeout()
}

// Counters of what a session has seen; they only grow.
type Counters struct {
	// Stale counts the answers that came for an epoch or an attempt that was over.
	Stale int64
	// Polls counts the waiters that found out only by looking again, after a session timeout, what an event should have
	// told them: that the lock is theirs, or that what they wait for is gone. It stays zero where events arrive. Without
	// READ on the nodes before it a waiter is sent none.
	Polls int64
	// Unowned counts the nodes of the session that no request owned, as servers bring back that were restored from a
	// backup, and that it has removed.
	Unowned int64
}

// Counters gives what has been counted since the session actor began.
func (s *Session) Counters() Counters {
	return Counters{Stale: s.stale.Load(), Polls: s.polls.Load(), Unowned: s.unowned.Load()}
}

// leaseLeft is how long the leases of the session last; false where no transaction has been acknowledged in this epoch.
func (s *Session) leaseLeft() (time.Duration, bool) {
	l := s.current.Load()
	if l == nil || l.clock.Deadline().IsZero() {
		return 0, false
	}
	return time.Until(l.clock.Deadline()), true
}
