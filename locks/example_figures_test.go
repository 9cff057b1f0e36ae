package locks_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A program gives the MeterProvider that it has, whose reader sends the figures to where they are
// looked at. Here they are read by hand. examples/metrics serves them to Prometheus.
func ExampleWithMeterProvider() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	reader := sdkmetric.NewManualReader()
	client, err := locks.Open(ctx, server.Addr(),
		locks.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))),
		locks.WithMeterLabels(func(path string) []attribute.KeyValue { // few different ones
			return []attribute.KeyValue{attribute.String("app.area", strings.Split(path, "/")[1])}
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	for _, path := range []string{"/orders/42", "/orders/43", "/stock/7"} {
		lease, err := client.Mutex(path).Lock(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := lease.Unlock(ctx); err != nil {
			fmt.Println(err)
			return
		}
	}
	var figures metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &figures); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range figures.ScopeMetrics[0].Metrics {
		if m.Name != "turnstile.lock.grants" {
			continue
		}
		for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
			area, _ := p.Attributes.Value("app.area")
			fmt.Println(area.AsString(), p.Value)
		}
	}
	// Unordered output:
	// orders 2
	// stock 1
}

// Spans have the caller's as parent, and what is done under the lock is a part of the hold.
func ExampleWithTracerProvider() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	spans := tracetest.NewSpanRecorder() // in a program: an exporter
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	client, err := locks.Open(ctx, server.Addr(), locks.WithTracerProvider(tracers))
	if err != nil {
		fmt.Println(err)
		return
	}
	tracer := tracers.Tracer("orders")
	ctx, ship := tracer.Start(ctx, "ship order")
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, store := tracer.Start(lease.Context(), "store")
	store.End()
	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	ship.End()
	client.Close(ctx) // waits for spans: they are told on another goroutine

	names := map[string]string{}
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	for _, s := range spans.Ended() {
		fmt.Printf("%s in %q\n", s.Name(), names[s.Parent().SpanID().String()])
	}
	// Unordered output:
	// turnstile.lock.acquire in "ship order"
	// store in "turnstile.lock.hold"
	// turnstile.lock.hold in "ship order"
	// ship order in ""
}
