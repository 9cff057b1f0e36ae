package locks

import (
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// The keys of the attributes of spans, besides metering.KeyMode and metering.KeyErrorType.
const (
	keyPath    = attribute.Key("turnstile.lock.path")
	keyNode    = attribute.Key("turnstile.lock.node")
	keyToken   = attribute.Key("turnstile.lock.token")
	keySession = attribute.Key("turnstile.session.id")
)

// tracedSpan is a span that ends once. A nil one does nothing: there is no TracerProvider.
type tracedSpan struct {
	trace.Span
	ended atomic.Bool
}

// granted adds the attributes that are known from the grant on.
func (s *tracedSpan) granted(held *messages.Held) {
	if s != nil {
		s.SetAttributes(keyNode.String(held.Node), keyToken.Int64(int64(held.Token)),
			keySession.String(fmt.Sprintf("0x%x", held.Session)))
	}
}

// happened adds an event to the span.
func (s *tracedSpan) happened(what string) {
	if s != nil {
		s.AddEvent(what)
	}
}

// end ends a span, once: as an error unless err is nil.
func (s *tracedSpan) end(err error) {
	if s == nil || s.ended.Swap(true) {
		return
	}
	if err != nil {
		s.SetAttributes(metering.KeyErrorType.String(errorType(err)))
		s.SetStatus(codes.Error, err.Error())
	}
	s.End()
}
