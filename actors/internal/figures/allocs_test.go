package figures_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// life plays a request from its beginning to its end, as its lock actor tells it.
func life(f *figures.Figures) {
	r, err := f.Request(messages.Exclusive, "/orders/42")
	if err != nil {
		panic(err)
	}
	var m machine.Machine
	for _, to := range []messages.State{messages.StateCreating, messages.StateWatching, messages.StateHeld, messages.StateReleasing,
		messages.StateReleased} {
		before := m
		m.State, m.Reason = to, messages.ReasonReleased
		ev := machine.Event{Kind: machine.TurnCame}
		if to == messages.StateHeld {
			r.HandedOff(figures.Handoff{At: f.Now(), Local: true})
		}
		r.Step(&before, &m, &ev)
	}
	r.Asked()
	r.Leaves(messages.ReasonStopped, false)
	f.Add("turnstile.session.batches", 1)
}

func newFigures(tb testing.TB) *figures.Figures {
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	f, err := figures.New(provider, nil, func() (time.Duration, bool) { return time.Second, true })
	require.NoError(tb, err)
	tb.Cleanup(f.End)
	return f
}

// TestAllocations: a request that is followed costs one allocation and not one more for what is measured; one that is not
// costs none.
func TestAllocations(t *testing.T) {
	metered := newFigures(t)
	life(metered) // what is made when it is first seen
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { life(metered) }), 1.0)
	require.Zero(t, testing.AllocsPerRun(1000, func() { life(nil) }))
}

// BenchmarkRequest measures the figures of one request, without the request.
func BenchmarkRequest(b *testing.B) {
	for name, f := range map[string]*figures.Figures{"metered": newFigures(b), "unmetered": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				life(f)
			}
		})
	}
}
