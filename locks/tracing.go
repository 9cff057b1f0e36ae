package locks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// The keys of the attributes of spans, besides metering.KeyMode and metering.KeyErrorType.
const (
	keyPath    = attribute.Key("turnstile.lock.path")
	keyNode    = attribute.Key("turnstile.lock.node")
	keyToken   = attribute.Key("turnstile.lock.token")
	keySession = attribute.Key("turnstile.session.id")
)

// tracedSpan is a span that ends once. A nil one does nothing: there is no TracerProvider.
//
// It is started on the goroutine of a call of Lock, and told the rest by way of a queue (package told), with the times at which
// that happened: spans, and the processors behind them, are the user's.
type tracedSpan struct {
	trace.Span
	told  *told.Queue[func()]
	ended atomic.Bool
}

// granted adds the attributes that are known from the grant on.
func (s *tracedSpan) granted(lease *Lease) {
	if s != nil {
		s.told.Tell(func() {
			s.SetAttributes(keyNode.String(lease.Node()), keyToken.Int64(int64(lease.Token())),
				keySession.String(fmt.Sprintf("0x%x", lease.Session())))
		})
	}
}

// happened adds an event to the span.
func (s *tracedSpan) happened(what string) {
	if s != nil {
		at := trace.WithTimestamp(time.Now())
		s.told.Tell(func() { s.AddEvent(what, at) })
	}
}

// end ends the span, once: as an error unless err is nil.
func (s *tracedSpan) end(err error) {
	if s == nil || s.ended.Swap(true) {
		return
	}
	at := trace.WithTimestamp(time.Now())
	s.told.Tell(func() {
		if err != nil {
			s.SetAttributes(metering.KeyErrorType.String(errorType(err)))
			s.SetStatus(codes.Error, err.Error())
		}
		s.End(at)
	})
}

// holdSpan is the span of a hold, and the context that carries it.
type holdSpan struct {
	*tracedSpan
	ctx context.Context
}

// trace starts the span of the hold, on the goroutine of the call of Lock that got it.
func (l *Lease) trace() {
	started := false
	defer func() {
		if !started { // the tracer has panicked: nobody gets the lease
			l.Release()
		}
	}()
	ctx, span := l.from.startSpan(l.values, "turnstile.lock.hold", trace.SpanKindInternal)
	started = true
	span.granted(l)
	l.span.Store(&holdSpan{span, ctx})
	if cause := l.why(); cause != nil { // it ended meanwhile, and had no span to end
		l.endSpan(cause)
	}
}

// held gives the span of the hold; nil where there is none.
func (l *Lease) held() *tracedSpan {
	if span := l.span.Load(); span != nil {
		return span.tracedSpan
	}
	return nil
}

// endSpan ends the span of the hold. cause is that of the end of the lease's context.
func (l *Lease) endSpan(cause error) {
	if errors.Is(cause, ErrReleased) {
		cause = nil
	}
	l.held().end(cause)
}
