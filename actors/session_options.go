package actors

import (
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// SessionOption changes how a session works.
type SessionOption func(*sessionOptions) error

type sessionOptions struct {
	log         *slog.Logger
	without     FastPath
	sessionFile string // "" for none
	meters      metric.MeterProvider
	labels      metering.Labels
	bounds      coordinator.Bounds // zero is the usual
}

// WithMeterProvider gives the session's figures to a MeterProvider: package metering lists them. By
// default it is that of the actor system (actor.WithMetricProviders); nil turns them off. It is
// given to the session alone.
//
// With one in the actor system, a program also gets protoactor's own figures, of every actor. They
// have a price: spawning and stopping an actor took three to four times as long (9 µs without, 27
// to 34 µs with). They go to the global MeterProvider (otel.SetMeterProvider), whichever was given.
// While there is none, protoactor keeps 2 KB of each actor for good, and a lock request is an
// actor.
func WithMeterProvider(to metric.MeterProvider) SessionOption {
	return func(o *sessionOptions) error { o.meters = to; return nil }
}

// WithMeterLabels adds attributes to what is counted of locks. The function makes them of a lock
// path, such as its first element. It must give few different answers: each is a series of its own
// for as long as the program runs. It is called once for each request, from any goroutine. By
// default the figures say nothing of the path.
func WithMeterLabels(of metering.Labels) SessionOption {
	return func(o *sessionOptions) error { o.labels = of; return nil }
}

// WithoutFastPaths switches fast paths off.
func WithoutFastPaths(paths ...FastPath) SessionOption {
	return func(o *sessionOptions) error {
		for _, f := range paths {
			o.without |= f
		}
		return nil
	}
}

// withoutVariable names fast paths that are switched off in all sessions of a process: for finding out in the field
// whether one of them is to blame, and for running whole test suites without it.
const withoutVariable = "TURNSTILE_WITHOUT"

func (o *sessionOptions) heedEnvironment() error {
	off, err := ParseFastPaths(os.Getenv(withoutVariable))
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", withoutVariable, err)
	}
	o.without |= off
	if o.without != 0 {
		o.log.Info("fast paths are switched off", logkeys.FastPaths, o.without.String())
	}
	return nil
}
