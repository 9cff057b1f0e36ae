package figures_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/turnstile-locks/turnstile/actors/internal/figures"
)

// tagged is a MeterProvider of a program's own. Its type can be a key of a map, but not each of its values.
type tagged struct {
	metric.MeterProvider
	tag any
}

// TestMeterProviderThatIsNoKey: two sessions have a MeterProvider that cannot be compared with itself.
func TestMeterProviderThatIsNoKey(t *testing.T) {
	provider := tagged{sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())), []string{"a", "b"}}
	left := func() (time.Duration, bool) { return time.Second, true }
	for range 2 {
		f, err := figures.New(provider, nil, left)
		require.NoError(t, err)
		defer f.End()
		life(f)
	}
}
