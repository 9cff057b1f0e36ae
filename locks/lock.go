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
	use       use
	want      messages.Acquire
	wrong     error // with the options; nil for nothing
	observers []*actor.PID
	maxHold   time.Duration
	onChange  func(Change)
	onLost    func(key string, err error)
	requests  *sync.WaitGroup // counts those that have not ended, for whoever waits for them; nil for nobody

	detects    bool // WithDeadlockDetection
	ranked     bool // WithPriority
	pressAfter time.Duration

	job jobOptions // of RunOnce
}

// jobOptions are the options of RunOnce.
type jobOptions struct {
	markFirst, waits bool
	retryAfter       time.Duration
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
