package actors_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/turnstile-locks/turnstile/actors"
)

func metered() actors.SessionOption {
	return actors.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
}

// BenchmarkMetered is BenchmarkCycle without and with a MeterProvider.
func BenchmarkMetered(b *testing.B) {
	for _, of := range []struct {
		name string
		opts []actors.SessionOption
	}{{"without", nil}, {"with", []actors.SessionOption{metered()}}} {
		b.Run(of.name, func(b *testing.B) {
			c := newCycler(b, 1, of.opts...)
			b.ReportAllocs()
			b.ResetTimer()
			c.cycles(b.N)
		})
	}
}

// TestMeteredCyclesAllocate: figures cost an allocation in a cycle, for the value that follows the
// request; the rest of the bound allows for differences between cycles.
func TestMeteredCyclesAllocate(t *testing.T) {
	t.Setenv("TURNSTILE_WITHOUT", "")
	const cycles, workers, more = 100, 1, 10             // told by a queue, which wakes a goroutine the more often the slower the machine is
	each := func(opts ...actors.SessionOption) float64 { // the least of some, because a slow machine adds heartbeats
		c, least := newCycler(t, workers, opts...), math.Inf(1)
		for range 8 {
			least = min(least, testing.AllocsPerRun(1, func() { c.cycles(cycles) }))
		}
		return least / (cycles * workers)
	}
	without, with := each(), each(metered())
	t.Logf("%.1f allocations a cycle without figures, %.1f with", without, with)
	require.LessOrEqual(t, with, without+more)
}
