package actors

import (
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/metric"

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
}

// WithoutParentWrites keeps Turnstile from writing to lock paths. By default an acquire is one
// transaction that creates the contender's node and sets the lock path's data, which are empty, to
// empty, because the answer to that tells everything in one round trip. Without it an acquire takes a
// create, a look at the node and a listing. Lock paths that have data, or that we may not write to,
// are never written to in any case. Data count that are there when a path is first used by a session
// actor: who writes data to a lock path later wants this option.
func WithoutParentWrites() SessionOption {
	return func(o *sessionOptions) error { o.without |= OneRoundTrip; return nil }
}

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
