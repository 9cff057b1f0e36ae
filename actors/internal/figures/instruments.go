package figures

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

type instruments struct {
	acquire, hold, handoff                                          metric.Float64Histogram
	held, waiting, sessions, weight, inside                         metric.Int64UpDownCounter
	grants, losses, revocations, recoveries, interruptions, batches metric.Int64Counter
	size                                                            metric.Int64Histogram
	lease                                                           metric.Float64ObservableGauge
}

type maker struct {
	all    map[string]metering.Instrument
	failed []error
}

func one[I, Option any](m *maker, name string, make func(string, ...Option) (I, error)) I {
	of, known := m.all[name]
	if !known {
		m.failed = append(m.failed, fmt.Errorf("there is no instrument %s", name))
	}
	options := []any{metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning)}
	if of.Kind == metering.Histogram {
		options = append(options, metric.WithExplicitBucketBoundaries(of.Bounds...))
	}
	var typed []Option
	for _, option := range options {
		typed = append(typed, option.(Option))
	}
	i, err := make(of.Name, typed...)
	m.failed = append(m.failed, err)
	return i
}

func newInstruments(meter metric.Meter) (*instruments, error) {
	m := &maker{all: map[string]metering.Instrument{}}
	for _, i := range metering.Instruments() {
		m.all[i.Name] = i
	}
	i := &instruments{
		acquire:       one(m, "turnstile.lock.acquire.duration", meter.Float64Histogram),
		hold:          one(m, "turnstile.lock.hold.duration", meter.Float64Histogram),
		handoff:       one(m, "turnstile.lock.handoff.duration", meter.Float64Histogram),
		held:          one(m, "turnstile.lock.held", meter.Int64UpDownCounter),
		waiting:       one(m, "turnstile.lock.waiting", meter.Int64UpDownCounter),
		sessions:      one(m, "turnstile.session.count", meter.Int64UpDownCounter),
		weight:        one(m, "turnstile.session.weight", meter.Int64UpDownCounter),
		inside:        one(m, "turnstile.session.inside", meter.Int64UpDownCounter),
		grants:        one(m, "turnstile.lock.grants", meter.Int64Counter),
		losses:        one(m, "turnstile.lock.losses", meter.Int64Counter),
		revocations:   one(m, "turnstile.lock.revocations", meter.Int64Counter),
		recoveries:    one(m, "turnstile.lock.recoveries", meter.Int64Counter),
		interruptions: one(m, "turnstile.session.interruptions", meter.Int64Counter),
		batches:       one(m, "turnstile.session.batches", meter.Int64Counter),
		size:          one(m, "turnstile.session.batch.size", meter.Int64Histogram),
		lease:         one(m, "turnstile.session.lease.remaining", meter.Float64ObservableGauge),
	}
	return i, errors.Join(m.failed...)
}

var always = context.Background()

// with is a set of attributes as instruments take it, made once: a method that is given such a
// slice allocates none.
type with struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newWith(attributes ...attribute.KeyValue) with {
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return with{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
}

// cause says why a request went to find out where it stands.
type cause uint8

const (
	otherCause cause = iota
	disconnected
	silent
	unknownOutcome
	nodeGone
	notListed
	lateGrant
	expired
	causes int = iota
)

var causeWords = [causes]string{otherCause: metering.CauseOther, disconnected: metering.CauseDisconnected,
	silent: metering.CauseSilent, unknownOutcome: metering.CauseUnknownOutcome, nodeGone: metering.CauseNodeGone,
	notListed: metering.CauseNotListed, lateGrant: metering.CauseLateGrant, expired: metering.CauseExpired}
