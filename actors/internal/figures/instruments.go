package figures

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnstile-locks/turnstile/actors/metering"
)

// newInstruments makes those of package metering's table, by their names.
func newInstruments(meter metric.Meter) (map[string]any, error) {
	all, failed := map[string]any{}, []error(nil)
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

var always = context.Background()

// with is a set of attributes as instruments take it, made once: a method that is given such a
// slice allocates none.
type with struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newWith(attributes []attribute.KeyValue) with {
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return with{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
}

// strand has the attributes of one mode and label, or none: those of the session.
type strand struct {
	figures *Figures
	common  []attribute.KeyValue
	plain   with
	mu      sync.RWMutex
	known   map[attribute.KeyValue]with // with one attribute more
}

func (f *Figures) newStrand(common ...attribute.KeyValue) *strand {
	return &strand{figures: f, common: common, plain: newWith(common), known: map[attribute.KeyValue]with{}}
}

func (s *strand) measure(name string, value float64, more ...attribute.KeyValue) {
	with := s.plain
	if len(more) > 0 {
		with = s.with(more[0])
	}
	s.figures.told.Tell(measurement{to: s.figures.provider.instruments[name], value: value, with: with})
}

func (s *strand) with(one attribute.KeyValue) with {
	s.mu.RLock()
	w, made := s.known[one]
	s.mu.RUnlock()
	if !made {
		w = newWith(append(slices.Clone(s.common), one))
		s.mu.Lock()
		s.known[one] = w
		s.mu.Unlock()
	}
	return w
}
