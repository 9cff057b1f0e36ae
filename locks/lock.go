package locks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// lock holds what all kinds of locks share: client, request, options. It is immutable, so that any number of
// goroutines may use one, or several of the same path: each call queues by itself. Requests and leases refer to it, and
// do not copy it.
type lock struct {
	client    *Client
	use       use
	want      messages.Acquire
	wrong     error // with the options; nil for nothing
	observers []*actor.PID
	maxHold   time.Duration
	onChange  func(Change)
	onLost    func(key string, err error)
	requests  *sync.WaitGroup // counts requests that have not ended, for Membership.Leave; nil for other locks

	detects    bool // WithDeadlockDetection
	ranked     bool // WithPriority
	pressAfter time.Duration

	job jobOptions // of RunOnce and RunOnceFor
}

func newLock(c *Client, want messages.Acquire, opts []LockOption) lock {
	return newLockFor(forLocking, c, want, opts)
}

func newLockFor[Option interface{ apply(*lock) }](what use, c *Client, want messages.Acquire, opts []Option) lock {
	l := lock{use: what, client: c, want: want}
	for _, opt := range opts {
		opt.apply(&l)
	}
	l.wrong = l.check()
	return l
}

// as gives the lock in another mode.
func (l lock) as(mode messages.Mode) *lock {
	l.want.Mode = mode
	if mode == messages.Write {
		l.want.Cohort = 0 // readers share a node, writers do not
	}
	return &l
}

// try gives the lock for a call that does not wait for others.
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

// acquire carries out every call of Lock.
func (l *lock) acquire(ctx context.Context) (*Lease, error) {
	_, span := l.startSpan(ctx, "turnstile.lock.acquire", trace.SpanKindClient)
	lease, err := l.await(ctx)
	if lease != nil {
		span.granted(lease.held)
	}
	span.end(err)
	return lease, err
}

// await spawns the request and waits for its answer, or for the end of ctx.
func (l *lock) await(ctx context.Context) (*Lease, error) {
	if l.wrong != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: l.wrong}
	}
	if err := l.client.enter(ctx); err != nil {
		return nil, &Error{Op: "lock", Path: l.want.Path, Err: err}
	}
	r := newRequest(l.within(ctx), ctx)
	pid := r.start()
	select {
	case <-r.settled:
		return r.answer.lease, r.answer.err
	case <-ctx.Done():
		// The request is told, and goes on without us until its node is gone. A grant that is there already,
		// or on its way, is given back like any other.
		err := r.timedOut(l.client.session.Explain(ended(ctx)))
		l.client.system.Root.Send(pid, &messages.Cancel{Reason: reasonOf(ctx)})
		return nil, err
	}
}

// reasonOf gives the reason of a request whose ctx is done.
func reasonOf(ctx context.Context) messages.Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return messages.ReasonTimeout
	}
	return messages.ReasonCancelled
}

// within adds the owner and the caller to a request that is made within leases.
func (l *lock) within(ctx context.Context) *lock {
	around := LeaseOf(ctx)
	if around == nil {
		return l
	}
	inner := *l
	inner.want.Caller = around.caller()
	for held := around; held != nil; held = held.outer() {
		if held.from.sameAs(l) && held.ctx.Err() == nil {
			inner.want.Owner = held.key()
			if l.want.Reentry || l.want.Mode == messages.Read {
				held.shared.Store(true) // before it is asked for, and so before anything is written under it
			}
			break
		}
	}
	return &inner
}

// sameAs reports whether holds of two locks exclude each other's requests, so that a caller within one would wait for
// itself in the other. Modes and options may differ.
func (l *lock) sameAs(other *lock) bool {
	return l.client == other.client && l.want.Path == other.want.Path && l.want.Name == other.want.Name &&
		(l.want.Mode == messages.Contest) == (other.want.Mode == messages.Contest) &&
		l.want.Mode != messages.Semaphore && other.want.Mode != messages.Semaphore
}

// withValues gives a context that ends with ctx, with its cause, and has the values of another context. context.Cause looks
// for a value, which must not be that of the other context.
func withValues(ctx, values context.Context) context.Context {
	return valued{ctx, context.WithoutCancel(values)}
}

type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any {
	if found := v.values.Value(key); found != nil {
		return found
	}
	return v.Context.Value(key)
}
