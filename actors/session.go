package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// ErrSessionClosed: the session was closed, or has ended for good.
var ErrSessionClosed = errors.New("turnstile: the session is closed")

// Session is the handle of a session actor. Safe for concurrent use.
type Session struct {
	pid    *actor.PID
	system *actor.ActorSystem
	cfg    zkconn.Config
	opts   sessionOptions
	file   *sessionfile.Successor

	ready     chan struct{} // closed at the first connection
	readyOnce sync.Once
	warned    sync.Once
	polled    sync.Once     // of a waiter that had to look again
	stopped   chan struct{} // closed when the actor takes no more messages
	ended     chan struct{} // closed when all that it started has ended, too
	current   atomic.Pointer[sessionInfo]
	conn      atomic.Pointer[zkconn.Conn]
	failure   atomic.Pointer[error]
	cause     atomic.Pointer[error] // the connection's last, once that was let go of
	closed    error                 // of closing the connection; set before ended is closed
	registry  registry
	workers   *mailbox.Workers
	listened  *actor.Props
	phase     phases
	troubles  troubles
	stale     atomic.Int64
	polls     atomic.Int64
	unowned   atomic.Int64
	weight    atomic.Int64
	figures   *figures.Figures
	calls     *told.Queue[func()]
	closing   closingHooks
	aboveMu   sync.Mutex
	above     []Inside // only grows
}

// PID is the session actor's address.
func (s *Session) PID() *actor.PID { return s.pid }

// Servers lists the servers, each as host and port, in order.
func (s *Session) Servers() []string { return slices.Sorted(slices.Values(s.cfg.Servers())) }

// Absolute gives a path as the servers know it, with the chroot.
func (s *Session) Absolute(path string) string { return s.cfg.Chroot() + path }

// Ready waits until the session exists. It returns the error of ctx, or of a session that failed
// for good, with the servers and the last cause. After the session timeout it logs one warning.
func (s *Session) Ready(ctx context.Context) error {
	defer time.AfterFunc(s.cfg.SessionTimeout(), s.warnOfServers).Stop()
	select {
	case <-s.ready:
		return nil
	case <-s.ended:
		return s.explain(s.Err())
	case <-ctx.Done():
		return s.explain(ctx.Err())
	}
}

// warnOfServers: a program whose ctx has no deadline would stand still without a word.
func (s *Session) warnOfServers() {
	select {
	case <-s.ready:
	case <-s.ended:
	default:
		s.warned.Do(func() {
			s.cfg.AlarmLogger().Warn("no session yet: no server can be reached", logkeys.Server, strings.Join(s.cfg.Servers(), ","),
				logkeys.Error, s.lastCause())
		})
	}
}

const pollWarning = "a waiter found by looking again, a session timeout later, what no event had told it: " +
	"it may lack READ on the nodes before its own, or the servers lose watches"

// warnOfPoll warns once: nothing else shows that such waiters wait a session timeout too long.
func (s *Session) warnOfPoll(path, node string) {
	s.polled.Do(func() {
		s.cfg.AlarmLogger().Warn(pollWarning, logkeys.Path, path, logkeys.Node, node, logkeys.Session, logkeys.SessionID(s.ID()))
	})
}

// Err gives why the session has ended for good: ErrSessionClosed, zkconn.ErrAuthFailed; nil while
// it has not ended.
func (s *Session) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

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

// letGo has the handle of an ended session forget its actor and its connection. self may end before
// the call that spawned it has returned.
func (s *Session) letGo(self *actor.PID) {
	cause := s.lastCause()
	s.cause.Store(&cause)
	s.conn.Store(nil)
	// A PID keeps the process that it was last sent to until it is used again.
	s.system.Root.Send(self, lockEnded{})
}

// Explain adds to err the servers and why none was reached, when the session is not connected.
func (s *Session) Explain(err error) error {
	if l := s.current.Load(); l != nil && l.session != 0 && s.lastCause() == nil {
		return err
	}
	return s.explain(err)
}

// Close ends the session at the server, which deletes all its nodes, and waits until all that it
// started has ended, or ctx has. Held locks are Lost. The functions of BeforeClose run first.
// Closing again gives the same answer.
//
// When no server has confirmed it, others wait for its locks until it expires: the error wraps
// zkconn.ErrSessionRemains, and a warning is logged. Everything in this process has ended even so.
// Unreachable servers are asked until shortly before the deadline of ctx, for a session timeout at
// most; without a deadline Close gives up at once.
//
// It also waits for what is still to be told, such as log records: until ctx ends, or for a second
// where it has no deadline.
func (s *Session) Close(ctx context.Context) error {
	select {
	case <-s.ended:
	default:
		s.closing.run(func() { s.system.Root.Send(s.pid, &shutdown{until: farewellOf(ctx)}) })
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
	s.awaitTold(ctx)
	if err != nil {
		return fmt.Errorf("turnstile: closing the session: %w", err)
	}
	return nil
}

func (s *Session) awaitTold(ctx context.Context) {
	ctx, cancel := told.Closing(ctx)
	defer cancel()
	s.figures.Wait(ctx)
	s.calls.Wait(ctx)
	_, log := mailbox.LogOf(s.system)
	log.Wait(ctx)
	s.cfg.Told().Wait(ctx)
}

// Told is the queue of what package locks tells of this session, such as the ends of spans.
func (s *Session) Told() *told.Queue[func()] { return s.calls }

// farewellOf gives until when Close may tell the servers: a little before the deadline of ctx, to
// know the outcome by then; zero where there is none.
func farewellOf(ctx context.Context) time.Time {
	end, bounded := ctx.Deadline()
	if !bounded {
		return time.Time{}
	}
	return end.Add(-min(time.Until(end)/10, time.Second))
}

// Clock gives the lease clock of an epoch; one that is never valid for an epoch that is over.
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

// HasFile reports whether the session keeps its password in a file: see WithSessionFile.
func (s *Session) HasFile() bool { return s.file != nil }

// Timeout is the shortest session timeout that a server has granted. Before the first connection,
// and after the session's end, it is the one that is asked for.
func (s *Session) Timeout() time.Duration {
	if conn := s.conn.Load(); conn != nil {
		return conn.SessionTimeout()
	}
	return s.cfg.SessionTimeout()
}

// Connection gives the connection's state, and a channel that is closed when that changes.
func (s *Session) Connection() (Connection, <-chan struct{}) {
	now, changed := s.phase.current()
	now.Timeout = s.Timeout()
	now.Silence = max(now.Silence, s.silence())
	now.NodeBytes, now.MaxNodeBytes = int(s.weight.Load()), s.bounds().Weight
	for _, above := range s.inside() {
		now.Inside += above.CountInside()
	}
	now.Lease, _ = s.leaseLeft()
	now.Trouble, now.Stuck = s.troubles.current()
	if now.Phase != Connected {
		now.Cause = s.lastCause()
		if err := s.Err(); err != nil {
			now.Cause = err
		}
	}
	return now, changed
}

func (s *Session) silence() time.Duration {
	if conn := s.conn.Load(); conn != nil {
		return conn.Silence()
	}
	return 0
}

// leaseLeft gives the time left of the session's leases; false before this epoch's first.
func (s *Session) leaseLeft() (time.Duration, bool) {
	l := s.current.Load()
	if l == nil || l.clock.Deadline().IsZero() {
		return 0, false
	}
	return time.Until(l.clock.Deadline()), true
}

// Counters count events of a session; they only grow.
type Counters struct {
	// Stale counts the answers for an epoch or an attempt that was over.
	Stale int64
	// Polls counts the waiters that found only by looking again, after a session timeout, that the
	// lock is theirs, or that their predecessor is gone: without READ on the nodes before it a
	// waiter gets no events. The first is logged as a warning, but for a semaphore's waiter behind one
	// that holds and was killed before it said so.
	Polls int64
	// Unowned counts the session's nodes that no request owned and that it removed: servers that
	// were restored from a backup bring such nodes back, and a server may carry out a late create.
	Unowned int64
	// Untold counts the log records, measurements and ends of spans that were not told: see package
	// told.
	Untold int64
}

// Counters gives the counts since the session actor began.
func (s *Session) Counters() Counters {
	return Counters{Stale: s.stale.Load(), Polls: s.polls.Load(), Unowned: s.unowned.Load(),
		Untold: s.cfg.Told().Untold() + s.figures.Untold() + s.calls.Untold()}
}

func (s *Session) bounds() coordinator.Bounds {
	usual := coordinator.DefaultBounds()
	return coordinator.Bounds{Waiting: cmp.Or(s.opts.bounds.Waiting, usual.Waiting),
		Weight: cmp.Or(s.opts.bounds.Weight, usual.Weight), Root: len(s.cfg.Chroot())}
}

// Inside has the calls that share holds above the session: package sharing.
type Inside interface {
	// CountInside counts the calls that wait without a node of their own. Inside gives the first of
	// them for locks at a root and below it, in order, and counts those.
	CountInside() int
	Inside(root string, most int) (first []messages.Contender, all int)
	// Nodes gives, at a root and below it, the calls that have shared nodes, and those that wait
	// behind one: Contender.WaitsFor.
	Nodes(root string) []messages.Contender
}

// AskInside has the session ask about the calls above it, for queries, deadlocks and figures.
func (s *Session) AskInside(from Inside) {
	s.aboveMu.Lock()
	defer s.aboveMu.Unlock()
	s.above = append(s.above, from)
}

func (s *Session) inside() []Inside {
	s.aboveMu.Lock()
	defer s.aboveMu.Unlock()
	return s.above
}

// Figures are those of the session, for package sharing.
func (s *Session) Figures() *figures.Figures { return s.figures }

// MaxWaiting is the bound of WithMaxWaiting.
func (s *Session) MaxWaiting() int { return s.bounds().Waiting }

// BeforeClose has Close call a function, and wait for it, before the session ends at the servers;
// forget removes it. A gateway waits there until its promises have run out. A session that ends by
// itself, or whose actor is stopped, does not wait. One that is given up because a node may not be
// deleted, or a server handed out another, is left to expire.
func (s *Session) BeforeClose(do func()) (forget func()) { return s.closing.add(do) }

type closingHooks struct {
	mu      sync.Mutex
	todo    map[int]func()
	newest  int
	running bool
}

func (l *closingHooks) add(do func()) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.todo == nil {
		l.todo = map[int]func(){}
	}
	l.newest++
	id := l.newest
	l.todo[id] = do
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.todo, id)
	}
}

// run calls all hooks at the same time, also later ones, and then then: at once without hooks,
// otherwise on a goroutine. Further calls do nothing.
func (l *closingHooks) run(then func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running {
		l.next(then)
	}
}

func (l *closingHooks) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running || len(l.todo) > 0
}

func (l *closingHooks) next(then func()) {
	todo := l.todo
	l.todo, l.running = nil, len(todo) > 0
	if !l.running {
		then()
		return
	}
	go func() {
		var all sync.WaitGroup
		for _, do := range todo {
			all.Go(do)
		}
		all.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next(then)
	}()
}
