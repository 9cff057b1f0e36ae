package figures

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// instruments are the instruments of one MeterProvider.
type instruments struct {
	acquire, hold, handoff                                          metric.Float64Histogram
	held, waiting, sessions, weight, inside                         metric.Int64UpDownCounter
	grants, losses, revocations, recoveries, interruptions, batches metric.Int64Counter
	size                                                            metric.Int64Histogram
	lease                                                           metric.Float64ObservableGauge
}

// maker makes instruments and keeps the errors.
type maker struct {
	meter  metric.Meter
	all    map[string]metering.Instrument
	failed []error
}

// named finds an instrument, and fails on an unknown name.
func (m *maker) named(name string) metering.Instrument {
	of, known := m.all[name]
	if !known {
		m.failed = append(m.failed, fmt.Errorf("there is no instrument %s", name))
	}
	return of
}

func (m *maker) counter(name string) metric.Int64Counter {
	of := m.named(name)
	c, err := m.meter.Int64Counter(of.Name, metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning))
	m.failed = append(m.failed, err)
	return c
}

func (m *maker) upDown(name string) metric.Int64UpDownCounter {
	of := m.named(name)
	c, err := m.meter.Int64UpDownCounter(of.Name, metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning))
	m.failed = append(m.failed, err)
	return c
}

func (m *maker) seconds(name string) metric.Float64Histogram {
	of := m.named(name)
	h, err := m.meter.Float64Histogram(of.Name, metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning),
		metric.WithExplicitBucketBoundaries(of.Bounds...))
	m.failed = append(m.failed, err)
	return h
}

func (m *maker) amounts(name string) metric.Int64Histogram {
	of := m.named(name)
	h, err := m.meter.Int64Histogram(of.Name, metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning),
		metric.WithExplicitBucketBoundaries(of.Bounds...))
	m.failed = append(m.failed, err)
	return h
}

func (m *maker) gauge(name string) metric.Float64ObservableGauge {
	of := m.named(name)
	g, err := m.meter.Float64ObservableGauge(of.Name, metric.WithUnit(of.Unit), metric.WithDescription(of.Meaning))
	m.failed = append(m.failed, err)
	return g
}

func newInstruments(meter metric.Meter) (*instruments, error) {
	m := &maker{meter: meter, all: map[string]metering.Instrument{}}
	for _, i := range metering.Instruments() {
		m.all[i.Name] = i
	}
	i := &instruments{
		acquire: m.seconds("turnstile.lock.acquire.duration"), hold: m.seconds("turnstile.lock.hold.duration"),
		handoff: m.seconds("turnstile.lock.handoff.duration"),
		held:    m.upDown("turnstile.lock.held"), waiting: m.upDown("turnstile.lock.waiting"),
		sessions: m.upDown("turnstile.session.count"),
		grants:   m.counter("turnstile.lock.grants"), losses: m.counter("turnstile.lock.losses"),
		revocations:   m.counter("turnstile.lock.revocations"),
		recoveries:    m.counter("turnstile.lock.recoveries"),
		interruptions: m.counter("turnstile.session.interruptions"), batches: m.counter("turnstile.session.batches"),
		size: m.amounts("turnstile.session.batch.size"), lease: m.gauge("turnstile.session.lease.remaining"),
		weight: m.upDown("turnstile.session.weight"), inside: m.upDown("turnstile.session.inside"),
	}
	return i, errors.Join(m.failed...)
}

// always is for measurements that nobody cancels.
var always = context.Background()

// with is a set of attributes as instruments take it, made once: an instrument's method that is given such a slice
// allocates none.
type with struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newWith(attributes ...attribute.KeyValue) with {
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return with{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
}

// cause says in one word why a request went to find out where it stands.
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
