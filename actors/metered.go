package actors

import (
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// WithMeterProvider gives the session's figures to a MeterProvider: package metering says which they are. By default it
// is that of the actor system (actor.WithMetricProviders); nil turns them off.
//
// A program that gives one to the actor system gets protoactor's own figures as well, of every actor, and they have a
// price: an actor that is spawned and stopped took three to four times as long (9 µs without, 27 to 34 µs with). They go
// to the global MeterProvider (otel.SetMeterProvider), whichever was given, and as long as there is none protoactor keeps 2
// KB of each actor for good, and a lock request is an actor. This option gives a MeterProvider to the session alone.
func WithMeterProvider(to metric.MeterProvider) SessionOption {
	return func(o *sessionOptions) error { o.meters = to; return nil }
}

// WithMeterLabels puts attributes on what is counted of locks that the function makes of a lock path, such as its first
// element. It must give few different answers: each is a series of its own for as long as the program runs. It is called
// once for each request, from any goroutine. By default nothing of the path is told.
func WithMeterLabels(of metering.Labels) SessionOption {
	return func(o *sessionOptions) error { o.labels = of; return nil }
}

// leaseLeft is how long the leases of the session last; false where no transaction has been acknowledged in this epoch.
func (s *Session) leaseLeft() (time.Duration, bool) {
	l := s.current.Load()
	if l == nil || l.clock.Deadline().IsZero() {
		return 0, false
	}
	return time.Until(l.clock.Deadline()), true
}
