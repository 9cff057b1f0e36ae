package locks

import (
	"context"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// lock is what all kinds of locks have: whose they are, and what is asked for. It never changes, so that
// any number of goroutines may use one, or several of the same path: each call queues for itself. Requests and
// leases refer to it, and do not copy it.
type lock struct {
	client    *Client
	want      messages.Acquire
	observers []*actor.PID
	maxHold   time.Duration
	onChange  func(Change)
	requests  *sync.WaitGroup // counts those that have not ended, for whoever waits for them; nil for nobody

	ranked     bool // WithPriority
	pressAfter time.Duration

	job jobOptions // of RunOnce
}

// jobOptions are the options of RunOnce.
type jobOptions struct {
	markFirst, waits bool
	retryAfter       time.Duration
}

// LockOption changes how a lock is acquired.
type LockOption func(*lock)

// WithLabel writes a text into the contender's node, for people who look at the queue: at most 1024
// bytes. Use it always: it says who holds when a lock is stuck.
func WithLabel(label string) LockOption { return func(l *lock) { l.want.Label = label } }

// WithGrace gives the lock back by force this long after somebody has asked for it. Without it,
// Lease.Revoked tells of the request, and nothing else happens. Use it where
// operators, or more urgent work, must get the lock within a bounded time.
func WithGrace(d time.Duration) LockOption { return func(l *lock) { l.want.Grace = d } }

// WithSticky keeps an exclusive lock's node for d after Unlock, while nobody else queues for it. Use it where one
// client locks the same path again and again, and others seldom do. Locking it again with the same client then takes
// one round trip, a transaction that checks that the node is still there, and Unlock takes none: half of what a cycle
// costs otherwise. A node that an operator has deleted meanwhile is not reused.
//
// Unlock returns before the node is gone. As soon as anybody else asks for the lock, in this
// process or another, the node goes; that waiter waits for a listing and a delete more. A TryLock
// from elsewhere finds the lock taken at first, and people who look at the queue see a holder.
func WithSticky(d time.Duration) LockOption { return func(l *lock) { l.want.Sticky = d } }

// WithCohort lets up to n grants in a row of an exclusive lock pass inside this client, at most
// 1023, before the other clients have their turn (lock cohorting: Dice, Marathe, Shavit, PPoPP
// 2012). The client's calls of Lock share one node. Calls that wait behind it cost the servers
// nothing, and a hand-off between them is made in memory. Each grant has its own, greater token. Use
// it for hot locks of processes with many workers; of an RWMutex, for its readers.
//
// The order between clients stays that of the queue; inside the client it is that of the calls. The
// node goes after n grants, after a twentieth of the session timeout, when somebody asks for the
// lock, or when nobody waits here any more. Calls that still wait here then queue behind the other
// clients. So another client waits for one hold and n grants of this one at most, and no longer
// than for two holds and that time.
//
// Readers that share a node hold together, with one token. Those that wait for a writer hold as
// soon as the first of them does. Later ones hold at once, up to n in all and within that time. A
// writer of another client that queues behind the node waits for them, and readers that come after
// the cohort are behind the writer. Readers that come after a writer of their own client do not
// share the node of those before it. A writer has a node of its own, as without.
//
// Only calls with a cohort, and with the same WithName and WithNaming, share the node. In the queue
// they are one contender. Queue shows the label of the call that has the node, and how many wait
// behind it (messages.Contender.Waiting), as the client last wrote them there. It writes at most
// twice a second, for all of its locks.
//
// Deadlock detection sees the calls that wait behind nodes of the client that looks, and not those
// of other clients; of readers that hold with one node it sees one. An operator who deletes the
// node takes the lock from the calls that have it when the client hears of that.
func WithCohort(n int) LockOption { return func(l *lock) { l.want.Cohort = n } }

// WithReclaim lets a process that is started again after a crash take back what it held, with a client of the same
// WithSessionFile: the first to ask for the lock under the same label holds at once, with a greater token, and nobody
// else has held in between, whoever waits. Use it where a restart takes less time than a session timeout, and work
// that moves to another place costs more than waiting for it; and where a holder that crashes over and over again does
// no harm by being first each time.
//
// The process before it must be dead, which the file's lock proves, and its session must live: a session timeout has
// passed neither between the crash and Open nor between Open and Lock. The session file then keeps that session, and
// all that it held, for a session timeout after Open, which further restarts do not prolong: others wait too. Where it
// has expired, the label is another, the file is of another host or damaged, or somebody has asked for the lock back,
// the request queues like any other.
//
// It is for exclusive locks, at most 1024 bytes of label, and not together with WithSticky or WithCohort: otherwise the
// error wraps ErrBadAcquire. Within the client the lock is handed on only when the node of the holder before is gone,
// which is a round trip later than usual. Without a session file it has no effect; over a gateway it is refused.
func WithReclaim(label string) LockOption { return func(l *lock) { l.want.Reclaim = label } }

// WithObserver names actors that get the notices and transitions of every request: see
// actors.WithObserver. Use it in actor programs and in tests: an actorstest.Recorder is one.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(l *lock) { l.observers = append(l.observers, pids...) }
}

// WithReentry lets a holder acquire its lock again: Lock(lease.Context()) gives a further lease of
// the same hold, with the same token. Each lease is given back by itself, and the lock with the
// last of them. Without it such a call returns ErrReentry, because it would wait for itself. Use it
// where functions that lock call each other.
func WithReentry() LockOption { return func(l *lock) { l.want.Reentry = true } }

// WithName names the queue, so that several queues can share one lock path. Their nodes are called
// name_lock_sequence, as in recipes, with a GUID before the name. A name is at most 255 bytes, has
// no slash and no NUL, and does not begin with _c_. Use it where another program's recipe has such names.
func WithName(name string) LockOption { return func(l *lock) { l.want.Name = name } }

// WithNaming gives the nodes names that programs with another library read as their own: see
// messages.Naming. By default those are Curator's and go-zookeeper's. Contenders of any known
// naming are respected here in any queue. tests/interop/README.md, "Sharing queues with other
// clients", says which other clients respect ours. Use it to share locks with programs that lock with
// kazoo, or by ZooKeeper's recipes.
func WithNaming(naming messages.Naming) LockOption { return func(l *lock) { l.want.Naming = naming } }

// WithWatchAll watches the whole lock path while waiting, instead of the predecessor. Every arrival
// and every departure then wakes every such waiter, which reads the whole queue: the herd effect, a
// load that grows with the square of the queue's length. Use it for comparison, and with ten
// clients or fewer.
func WithWatchAll() LockOption { return func(l *lock) { l.want.WatchAll = true } }

func newLock(c *Client, want messages.Acquire, opts []LockOption) lock {
	l := lock{client: c, want: want}
	for _, opt := range opts {
		opt(&l)
	}
	return l
}

// as is the lock in another mode.
func (l lock) as(mode messages.Mode) *lock {
	l.want.Mode = mode
	if mode == messages.Write {
		l.want.Cohort = 0 // readers share a node, writers do not
	}
	return &l
}

// try is the lock for who does not want to wait for others.
func (l lock) try() *lock {
	l.want.Try = true
	return &l
}

// startSpan starts a span about a lock in ctx.
func (l *lock) startSpan(ctx context.Context, name string, kind trace.SpanKind) (context.Context, *tracedSpan) {
	if l.client.tracer == nil {
		return ctx, nil
	}
	ctx, span := l.client.tracer.Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithAttributes(keyPath.String(l.want.Path), metering.KeyMode.String(l.want.Mode.String())))
	return ctx, &tracedSpan{Span: span}
}

// holdSpan starts the span of a hold in the context of its lease.
func (l *lock) holdSpan(ctx context.Context, held *messages.Held) (context.Context, *tracedSpan) {
	ctx, span := l.startSpan(ctx, "turnstile.lock.hold", trace.SpanKindInternal)
	span.granted(held)
	return ctx, span
}
