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

const (
	keyPath    = attribute.Key("turnstile.lock.path")
	keyNode    = attribute.Key("turnstile.lock.node")
	keyToken   = attribute.Key("turnstile.lock.token")
	keySession = attribute.Key("turnstile.session.id")
)

// tracedSpan is a span that ends once; a nil one does nothing. It starts on the goroutine of Lock.
// The rest, which is the user's code, goes through a queue (package told).
type tracedSpan struct {
	trace.Span
	told  *told.Queue[func()]
	ended atomic.Bool
}

func (s *tracedSpan) granted(lease *Lease) {
	if s != nil {
		s.told.Tell(func() {
			s.SetAttributes(keyNode.String(lease.Node()), keyToken.Int64(int64(lease.Token())),
				keySession.String(fmt.Sprintf("0x%x", lease.Session())))
		})
	}
}

func (s *tracedSpan) happened(what string) {
	if s != nil {
		at := trace.WithTimestamp(time.Now())
		s.told.Tell(func() { s.AddEvent(what, at) })
	}
}

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

type holdSpan struct {
	*tracedSpan
	ctx context.Context
}

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

func (l *Lease) held() *tracedSpan {
	if span := l.span.Load(); span != nil {
		return span.tracedSpan
	}
	return nil
}

func (l *Lease) endSpan(cause error) {
	if errors.Is(cause, ErrReleased) {
		cause = nil
	}
	l.held().end(cause)
}
