package locks

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// lock holds what all kinds share: client, request, options. Immutable: requests and leases refer
// to it.
type lock struct {
	client *Client
	lockSettings
	wrong    error
	fault    error
	requests *sync.WaitGroup // that have not ended, for Membership.Leave; nil for other locks
}

func newLock[Option interface{ apply(*lockSettings) }](
	what use, c *Client, want messages.Acquire, opts []Option,
) lock {
	l := lock{client: c, lockSettings: lockSettings{use: what, want: turns.Want{Acquire: want}}}
	if slices.Contains(jobs, what) {
		l.job = &jobOptions{}
	}
	for _, opt := range opts {
		opt.apply(&l.lockSettings)
	}
	l.wrong = l.check()
	l.prepare()
	return l
}

func (l lock) as(mode messages.Mode) *lock {
	l.want.Mode = mode
	if mode == messages.Write {
		l.want.Cohort = 0 // readers share a node, writers do not
	}
	l.prepare()
	return &l
}

func (l lock) try() *lock {
	l.want.Try = true
	l.prepare()
	return &l
}

func (l *lock) startSpan(ctx context.Context, name string, kind trace.SpanKind) (context.Context, *tracedSpan) {
	ctx, span := l.client.tracer.Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithAttributes(keyPath.String(l.want.Path), metering.KeyMode.String(l.want.Mode.String())))
	return ctx, &tracedSpan{Span: span, told: l.client.told}
}

// sameLock reports whether a holder of one lock would wait for itself in the other. Modes and
// options may differ.
func (l *lock) sameLock(other *lock) bool {
	return l.client == other.client && l.want.Path == other.want.Path && l.want.Name == other.want.Name &&
		(l.want.Mode == messages.Contest) == (other.want.Mode == messages.Contest) &&
		l.want.Mode != messages.Semaphore && other.want.Mode != messages.Semaphore
}
