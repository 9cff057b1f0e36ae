package figures_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// The bounds on messages to the lock actor and to the session actor for a cycle of Lock and Unlock with which
// nobody competes. The two by which protoactor begins and ends a lock actor come on top: 17 and 12. When it
// takes fewer, run
//
//	go test -run TestMessagesOfACycle -v ./tests/figures
//
// and set what it says.
const (
	messagesOfACycle = 15
	messagesUnread   = 10 // the same where the lock is given back before the node is read
)

// TestMessagesOfACycle counts by protoactor's own metric. A timer may add a message now and then, so the
// smallest count of several cycles is the one that counts.
func TestMessagesOfACycle(t *testing.T) {
	t.Setenv("TURNSTILE_WITHOUT", "") // the bounds are for all fast paths
	reader := sdkmetric.NewManualReader()
	before := otel.GetMeterProvider() // protoactor has its instruments from there, whatever it is given
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	system := actor.NewActorSystem(actor.WithMetricProviders(otel.GetMeterProvider()), actor.WithLoggerFactory(silent))
	t.Cleanup(system.Shutdown)
	client := scene.Open(t, embedded.Run(t).Addr(), locks.WithActorSystem(system), locks.WithSessionTimeout(time.Minute))
	received := func() map[string]int {
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(context.Background(), &all))
		counts := map[string]int{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				if h, is := m.Data.(metricdata.Histogram[float64]); is && m.Name == "protoactor_actor_message_receive_duration_seconds" {
					for _, p := range h.DataPoints {
						if kind, _ := p.Attributes.Value("messagetype"); !strings.HasPrefix(kind.AsString(), "*actor.") {
							counts[kind.AsString()] += int(p.Count)
						}
					}
				}
			}
		}
		return counts
	}
	for name, c := range map[string]struct {
		events int // to wait for while it is held: Created, and OwnRead
		most   int
	}{"read": {2, messagesOfACycle}, "given back at once": {1, messagesUnread}} {
		t.Run(name, func(t *testing.T) {
			least, of := 0, map[string]int{}
			end := time.Now().Add(scene.Bound)
			for tries := 0; tries < 12 || least == 0 && time.Now().Before(end); tries++ {
				was := received()
				lease := scene.Locked(t, client.Mutex("/cycle").Lock)
				awaitReceived(t, received, "*actors.lockEvent", was["*actors.lockEvent"]+c.events)
				scene.GiveBack(t, lease)
				awaitReceived(t, received, "actors.lockEnded", was["actors.lockEnded"]+1) // it may come after Unlock has returned
				sum, now := 0, received()
				for kind, n := range now {
					now[kind] = n - was[kind]
					sum += now[kind]
				}
				if c.most == messagesUnread && now["*actors.timerFired"] > 0 {
					continue // the machine was slow, and the node was read
				}
				if least == 0 || sum < least {
					least, of = sum, now
				}
			}
			t.Logf("%d messages", least)
			for _, kind := range slices.Sorted(maps.Keys(of)) {
				t.Logf("%2d %s", of[kind], kind)
			}
			require.NotZero(t, least)
			require.LessOrEqual(t, least, c.most)
		})
	}
}

// awaitReceived waits until at least so many messages of a kind were received.
func awaitReceived(t *testing.T, received func() map[string]int, kind string, count int) {
	t.Helper()
	scene.Eventually(t, func() bool { return received()[kind] >= count }, "%d %s were received", count, kind)
}
