package locks

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/messages"
)

// acquire is what every call of Lock comes to.
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

// reasonOf says why a request whose ctx is done is given up.
func reasonOf(ctx context.Context) messages.Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return messages.ReasonTimeout
	}
	return messages.ReasonCancelled
}
