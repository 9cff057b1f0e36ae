package figures_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// world is a server, and a MeterProvider that is read by hand.
type world struct {
	t        *testing.T
	server   *embedded.Server
	reader   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider
}

func newWorld(t *testing.T) *world {
	reader := sdkmetric.NewManualReader()
	return &world{t: t, server: embedded.Run(t), reader: reader,
		provider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
}

// open opens a client that has the MeterProvider.
func (w *world) open(opts ...locks.Option) *locks.Client {
	w.t.Helper()
	return patient.Open(w.t, w.server.Addr(), append(opts, locks.WithMeterProvider(w.provider))...)
}

func (w *world) lock(m *locks.Mutex) *locks.Lease {
	w.t.Helper()
	lease := patient.Locked(w.t, m.Lock)
	return lease
}

func (w *world) unlock(l *locks.Lease) {
	w.t.Helper()
	patient.GiveBack(w.t, l)
}

// inBackground locks on a goroutine.
func (w *world) inBackground(m *locks.Mutex) <-chan *locks.Lease {
	got := make(chan *locks.Lease, 1)
	ctx := patient.Deadline(w.t)
	go func() {
		lease, err := m.Lock(ctx)
		if err != nil {
			w.t.Errorf("locking: %v", err)
		}
		got <- lease
	}()
	return got
}

// collect reads everything that is exported.
func (w *world) collect() map[string]metricdata.Metrics {
	w.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(w.t, w.reader.Collect(context.Background(), &all))
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		require.Equal(w.t, metering.Scope, scope.Scope.Name)
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// point is one series: what a counter or gauge says, or how often a histogram was told and the sum of it.
type point struct {
	attributes attribute.Set
	value      float64
	count      uint64
}

func points(m metricdata.Metrics) (all []point) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Value), 0})
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, p.Value, 0})
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, p.Sum, p.Count})
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Sum), p.Count})
		}
	}
	return all
}

// read gives the series with exactly these attributes; an empty one where it does not exist.
func (w *world) read(name string, attributes ...attribute.KeyValue) point {
	w.t.Helper()
	want := attribute.NewSet(attributes...)
	for _, p := range points(w.collect()[name]) {
		if p.attributes.Equals(&want) {
			return p
		}
	}
	return point{}
}

// value gives the value of a counter or a gauge.
func (w *world) value(name string, attributes ...attribute.KeyValue) float64 {
	w.t.Helper()
	return w.read(name, attributes...).value
}

// count counts the values of a histogram.
func (w *world) count(name string, attributes ...attribute.KeyValue) int {
	w.t.Helper()
	return int(w.read(name, attributes...).count)
}

func mode(m messages.Mode) attribute.KeyValue { return metering.KeyMode.String(m.String()) }

var exclusive = mode(messages.Exclusive)

func reason(word string) attribute.KeyValue     { return metering.KeyReason.String(word) }
func errorType(word string) attribute.KeyValue  { return metering.KeyErrorType.String(word) }
func handoff(word string) attribute.KeyValue    { return metering.KeyHandoff.String(word) }
func revocation(word string) attribute.KeyValue { return metering.KeyRevocation.String(word) }
func cause(word string) attribute.KeyValue      { return metering.KeyCause.String(word) }
func state(word string) attribute.KeyValue      { return metering.KeyState.String(word) }
