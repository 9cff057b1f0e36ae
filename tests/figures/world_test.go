package figures_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// world is a server, and what its clients tell: metrics, which are read by hand, spans that have ended, and logs.
type world struct {
	t        *testing.T
	server   *embedded.Server
	reader   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider
	spans    *tracetest.SpanRecorder
	traces   *sdktrace.TracerProvider
	logs     logs
}

func newWorld(t *testing.T) *world {
	reader, spans := sdkmetric.NewManualReader(), tracetest.NewSpanRecorder()
	return &world{t: t, server: embedded.Run(t), reader: reader, provider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		spans: spans, traces: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))}
}

// open opens a client that tells all of it; of logs what is not for debugging.
func (w *world) open(opts ...locks.Option) *locks.Client {
	w.t.Helper()
	return scene.Open(w.t, w.server.Addr(), append([]locks.Option{locks.WithMeterProvider(w.provider), locks.WithTracerProvider(w.traces),
		locks.WithLogger(slog.New(slog.NewJSONHandler(&w.logs, nil)))}, opts...)...)
}

func (w *world) lock(m *locks.Mutex) *locks.Lease { w.t.Helper(); return scene.Locked(w.t, m.Lock) }
func (w *world) unlock(l *locks.Lease)            { w.t.Helper(); scene.GiveBack(w.t, l) }

// collect reads every metric that is exported.
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

// points gives the series of a metric.
func (w *world) points(name string) []point { return pointsOf(w.collect()[name]) }

func pointsOf(m metricdata.Metrics) (all []point) {
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

// read gives the series whose attributes have exactly these values, whatever their keys: TestTable looks at those. It is an
// empty one where there is none.
func (w *world) read(name string, values ...string) point {
	w.t.Helper()
	slices.Sort(values)
	for _, p := range w.points(name) {
		var have []string
		for _, a := range p.attributes.ToSlice() {
			have = append(have, a.Value.AsString())
		}
		if slices.Sort(have); slices.Equal(have, values) {
			return p
		}
	}
	return point{}
}

// value gives the value of a counter or a gauge.
func (w *world) value(name string, values ...string) int {
	w.t.Helper()
	return int(w.read(name, values...).value)
}

// count counts the values of a histogram.
func (w *world) count(name string, values ...string) int {
	w.t.Helper()
	return int(w.read(name, values...).count)
}

// settled: so many requests have ended, so many of them after a grant, each counted and timed once; and none holds or waits.
func (w *world) settled(requests, granted int) {
	w.t.Helper()
	scene.Eventually(w.t, func() bool {
		return w.value("turnstile.lock.held", "exclusive") == 0 && w.value("turnstile.lock.waiting", "exclusive") == 0
	}, "somebody holds or waits")
	for name, want := range map[string]int{"turnstile.lock.acquire.duration": requests, "turnstile.lock.hold.duration": granted} {
		told := 0
		for _, p := range w.points(name) {
			told += int(p.count)
		}
		require.Equal(w.t, want, told, name)
	}
	require.Equal(w.t, granted, w.value("turnstile.lock.grants", "exclusive"))
	require.NotContains(w.t, w.collect(), "turnstile.session.lease.remaining")
}

// allZero: a metric is told, and each of its series is zero.
func (w *world) allZero(name string) {
	w.t.Helper()
	require.NotEmpty(w.t, w.points(name))
	for _, p := range w.points(name) {
		require.Zero(w.t, p.value, p.attributes.ToSlice())
	}
}

// ended gives the spans of a name that have ended, in that order.
func (w *world) ended(client *locks.Client, name string) (found []sdktrace.ReadOnlySpan) {
	require.True(w.t, client.Session().Told().Wait(scene.Deadline(w.t)))
	for _, s := range w.spans.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
}

// caller begins a span, in which calls are made.
func (w *world) caller() (context.Context, trace.Span) {
	return w.traces.Tracer("test").Start(scene.Deadline(w.t), "caller")
}

func attributesOf(s sdktrace.ReadOnlySpan) map[attribute.Key]any {
	all := map[attribute.Key]any{}
	for _, a := range s.Attributes() {
		all[a.Key] = a.Value.AsInterface()
	}
	return all
}

func eventsOf(s sdktrace.ReadOnlySpan) (names []string) {
	for _, e := range s.Events() {
		names = append(names, e.Name)
	}
	return names
}

// inject injects a fault into what a client asks.
func (w *world) inject(client *locks.Client, fault embedded.Fault) *embedded.Injection {
	w.t.Helper()
	fault.Session = client.Session().ID()
	injected, err := w.server.Inject(fault)
	require.NoError(w.t, err)
	w.t.Cleanup(injected.Remove)
	return injected
}

// cut closes a client's connection under a request.
func (w *world) cut(client *locks.Client) {
	w.t.Helper()
	fault := w.inject(client, embedded.Fault{Action: embedded.CutBefore})
	_, _ = client.Queue(scene.Deadline(w.t), "/orders/42") // the request; whether it is answered is all the same
	require.NoError(w.t, fault.Wait(scene.Deadline(w.t)))
}

// logs keeps what is logged.
type logs struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// records gives what was logged, as JSON has it.
func (l *logs) records(t *testing.T) (all []map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.all.String()) {
		record := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		all = append(all, record)
	}
	return all
}
