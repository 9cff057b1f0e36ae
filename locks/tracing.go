package locks

import (
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// WithMeterProvider gives OpenTelemetry figures of the client's locks and of its session to a MeterProvider: package
// metering lists them. By default it is that of the actor system of WithActorSystem, where that has one; nil turns them
// off. protoactor's own figures are not turned on by it: see actors.WithMeterProvider.
// Use it to alert on losses and on long waits.
func WithMeterProvider(to metric.MeterProvider) Option { return session(actors.WithMeterProvider(to)) }

// WithMeterLabels puts attributes on the figures that the function makes of a lock path: see actors.WithMeterLabels.
// Use it where groups of locks are to be told apart in figures.
func WithMeterLabels(of metering.Labels) Option { return session(actors.WithMeterLabels(of)) }

// WithTracerProvider makes OpenTelemetry spans; by default, and with nil, there are none. The
// parent of both is the span of the context that Lock was called with; after Lease.Downgrade it is
// the hold that is downgraded.
//
//   - turnstile.lock.acquire lasts as long as the call of Lock. Its status is an error when the lock was not acquired,
//     with error.type as the figures have it.
//   - turnstile.lock.hold lasts from the grant until the lock is given back, revoked or lost; the latter two are errors.
//     Its events are suspended, resumed and "revoke requested". Lease.Context carries it, so that what is done under the
//     lock can be a part of it.
//
// Their attributes are turnstile.lock.path, turnstile.lock.mode, and as soon as there is a grant turnstile.lock.node,
// turnstile.lock.token and turnstile.session.id. Requests of lock actors that a program spawns itself have none.
// Use it to see in traces how long requests wait for locks.
func WithTracerProvider(from trace.TracerProvider) Option {
	return func(o *options) error {
		o.tracer = nil
		if from != nil {
			o.tracer = from.Tracer(metering.Scope)
		}
		return nil
	}
}

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
