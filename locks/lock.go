package locks

import (
	"context"
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

	ranked     bool // WithPriority
	pressAfter time.Duration
}

// LockOption changes how a lock is acquired.
type LockOption func(*lock)

// WithLabel writes a text into the contender's node, for people who look at the queue: at most 1024
// bytes. Use it always: it says who holds when a lock is stuck.
func WithLabel(label string) LockOption { return func(l *lock) { l.want.Label = label } }

// WithGrace gives the lock back by force this long after somebody has asked for it. Use it where operators, or work
// that is more urgent, must get the lock within a bounded time. Without it being asked is told by Lease.Revoked, and
// nothing more.
func WithGrace(d time.Duration) LockOption { return func(l *lock) { l.want.Grace = d } }

// WithSticky keeps an exclusive lock's node for d after Unlock, while nobody else queues for it. Use it where one
// client locks the same path again and again, and others seldom do. Locking it again with the same client then takes
// one round trip, a transaction that checks that the node is still there, and Unlock takes none: half of what a cycle
// costs otherwise. A node that an operator has deleted meanwhile is not reused.
//
// Unlock returns before the node is gone. As soon as anybody else asks for the lock, in this
// process or another, the node goes: whoever waits does so for a listing and a delete more. A
// TryLock from elsewhere finds the lock taken at first, and people who look at the queue see a
// holder.
func WithSticky(d time.Duration) LockOption { return func(l *lock) { l.want.Sticky = d } }

// WithCohort lets up to n grants in a row of an exclusive lock pass inside this client, at most 1023, before the other
// clients have their turn (lock cohorting: Dice, Marathe, Shavit, PPoPP 2012). The client's calls of Lock share one
// node: those that wait behind it cost the servers nothing, and a hand-off between them is made in memory. Each grant
// has its own, greater token. Use it for hot locks of processes with many workers; of an RWMutex, for its readers.
//
// The order between clients stays that of the queue. After n grants, after a twentieth of the session timeout, when
// somebody asks for the lock back, or when nobody waits here any more, the node goes, and whoever still waits here queues
// behind the other clients. So another client waits for one hold and n grants of this one at most, and no longer than
// for two holds and that time. Inside the client the order is that of the calls.
//
// Readers that share a node hold together, with one token: those that wait for a writer hold as soon as the first of
// them does, and whoever comes later at once, up to n in all and within that time. A writer of another client that queues
// behind the node waits for them; readers that come after the cohort are behind the writer. Readers that come after a
// writer of their own client do not share the node of those before it. A writer has a node of its own, as without.
//
// Only calls with a cohort, and with the same WithName and WithNaming, share the node. In the queue they are one
// contender: Queue shows the label of the call that has the node, and how many wait behind it (messages.Contender.Behind),
// both as the client last wrote them there, which it does twice in a second at most, for all of its locks. Deadlock
// detection sees those that wait behind nodes of the client that looks, and not those of other clients; of readers that
// hold with one node it sees one. An operator who deletes the node takes the lock from whichever calls have it when the
// client hears of that.
func WithCohort(n int) LockOption { return func(l *lock) { l.want.Cohort = n } }

// WithObserver names actors that get the notices and transitions of every request: see
// actors.WithObserver. Use it in actor programs and in tests: an actorstest.Recorder is one.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(l *lock) { l.observers = append(l.observers, pids...) }
}

// WithReentry lets who holds the lock acquire it again: Lock(lease.Context()) gives a further lease of the
// same hold, with the same token. Each lease is given back by itself, and the lock with the last of them.
// Without it such a call returns ErrReentry, for it would wait for itself. Use it where functions that lock call each
// other.
func WithReentry() LockOption { return func(l *lock) { l.want.Reentry = true } }

// WithName names the queue, so that several of them can share one lock path; their nodes are called
// name_lock_sequence, as recipes have it, with a GUID before the name. A name is at most 255 bytes, has no
// slash and no NUL, and does not begin with _c_. Use it where another program's recipe has such names.
func WithName(name string) LockOption { return func(l *lock) { l.want.Name = name } }

// WithNaming gives the nodes names that programs with another library read as their own: see
// messages.Naming. By default those are Curator's and go-zookeeper's. Contenders of any known naming are
// respected here in any queue; which other clients respect ours is told in the README, "Sharing a queue with other
// clients". Use it to share locks with programs that lock with kazoo, or by ZooKeeper's recipes.
func WithNaming(naming messages.Naming) LockOption { return func(l *lock) { l.want.Naming = naming } }

// WithWatchAll watches the whole lock path while waiting, instead of the predecessor. Every arrival and
// every departure then wakes every such waiter, which reads the whole queue: the herd effect, a load that
// grows with the square of the queue's length. Use it for comparison, and with ten clients or fewer.
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
