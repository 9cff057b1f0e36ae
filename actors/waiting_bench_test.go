package actors_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// BenchmarkWaiting measures the memory of a request that waits: a session's requests queue behind those of another,
// 100 to a lock. The part of the server, which is in the same process, is in it. Run it once, with -benchtime=1x.
func BenchmarkWaiting(b *testing.B) {
	const requests, each = 5000, 100
	server := embedded.Run(b, embedded.WithoutNetwork())
	silent := slog.New(slog.DiscardHandler)
	cfg, err := zkconn.NewConfig(server.Connect(), zkconn.WithSessionTimeout(time.Minute),
		zkconn.WithDialer(server.DialContext), zkconn.WithLogger(silent))
	require.NoError(b, err)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return silent }))
	b.Cleanup(system.Shutdown)
	start := func() *actors.Session {
		s, err := actors.StartSession(system, cfg)
		require.NoError(b, err)
		b.Cleanup(func() { scene.Closed(b, s.Close(context.Background())) })
		require.NoError(b, s.Ready(b.Context()))
		return s
	}
	holding, waiting := start(), start()
	told := make(chan messages.State, 4*requests)
	listener := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		moved, ok := ctx.Message().(*messages.Transition)
		if ok && (moved.To == messages.StateHeld || moved.To == messages.StateWatching) {
			told <- moved.To
		}
	}))
	path := func(n int) string { return "/waiting/" + string(rune('a'+n/each/26)) + string(rune('a'+n/each%26)) }
	ask := func(of *actors.Session, n int) {
		system.Root.Spawn(actors.NewLock(of, messages.Acquire{Path: path(n)}, actors.WithObserver(listener)))
	}
	for n := 0; n < requests; n += each {
		ask(holding, n)
		require.Equal(b, messages.StateHeld, <-told)
	}
	before := heap(b)
	for range b.N {
		for n := range requests {
			ask(waiting, n)
		}
		for range requests {
			require.Equal(b, messages.StateWatching, <-told)
		}
	}
	b.ReportMetric(float64(heap(b)-before)/float64(requests*b.N), "B/request")
}

// heap gives the bytes in use, without garbage.
func heap(tb testing.TB) int64 {
	tb.Helper()
	time.Sleep(100 * time.Millisecond) // what is about to come to rest
	var m runtime.MemStats
	for range 3 { // what finalizers let go of, too
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
