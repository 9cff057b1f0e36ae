package figures

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// instruments are the instruments of one MeterProvider, by their names.
type instruments map[string]any

// newInstruments makes those of package metering's table.
func newInstruments(meter metric.Meter) (instruments, error) {
	all, failed := instruments{}, []error(nil)
	for _, i := range metering.Instruments() {
		var err error
		unit, meaning, bounds := metric.WithUnit(i.Unit), metric.WithDescription(i.Meaning), metric.WithExplicitBucketBoundaries(i.Bounds...)
		switch {
		case i.Kind == metering.Counter:
			all[i.Name], err = meter.Int64Counter(i.Name, unit, meaning)
		case i.Kind == metering.UpDownCounter:
			all[i.Name], err = meter.Int64UpDownCounter(i.Name, unit, meaning)
		case i.Kind == metering.Gauge:
			all[i.Name], err = meter.Float64ObservableGauge(i.Name, unit, meaning)
		case i.Unit == "s":
			all[i.Name], err = meter.Float64Histogram(i.Name, unit, meaning, bounds)
		default:
			all[i.Name], err = meter.Int64Histogram(i.Name, unit, meaning, bounds)
		}
		failed = append(failed, err)
	}
	return all, errors.Join(failed...)
}

func (all instruments) lease() metric.Float64Observable {
	return all["turnstile.session.lease.remaining"].(metric.Float64Observable)
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
