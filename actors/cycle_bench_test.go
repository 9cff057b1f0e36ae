package actors_test

import (
	"context"
	"log/slog"
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

// cycler has actors that lock and unlock, all the same lock path in one session, on an embedded server without a network.
type cycler struct {
	root    *actor.RootContext
	workers []*actor.PID
	over    chan struct{} // each worker tells it once for each order
}

// newCycler starts everything. All of it ends with the test.
func newCycler(tb testing.TB, workers int, opts ...actors.SessionOption) *cycler {
	tb.Helper()
	server := embedded.Run(tb, embedded.WithoutNetwork())
	silent := slog.New(slog.DiscardHandler)
	// A long session, so that heartbeats are rare beside what is measured.
	cfg, err := zkconn.NewConfig(server.Connect(), zkconn.WithSessionTimeout(time.Minute), zkconn.WithDialer(server.DialContext),
		zkconn.WithLogger(silent))
	require.NoError(tb, err)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return silent }))
	tb.Cleanup(system.Shutdown)
	session, err := actors.StartSession(system, cfg, opts...)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		scene.Closed(tb, session.Close(ctx))
	})
	require.NoError(tb, session.Ready(tb.Context()))
	c := &cycler{root: system.Root, over: make(chan struct{})}
	for range workers {
		w := &worker{tb: tb, session: session, over: c.over}
		pid := system.Root.Spawn(actor.PropsFromFunc(w.receive))
		tb.Cleanup(func() { _ = system.Root.StopFuture(pid).Wait() })
		c.workers = append(c.workers, pid)
	}
	c.cycles(20) // what is made once, and asked once of a lock path
	return c
}

// cycles waits until each worker has had so many more grants.
func (c *cycler) cycles(each int) {
	for _, w := range c.workers {
		c.root.Send(w, each)
	}
	for range c.workers {
		<-c.over
	}
}

// worker is an actor that has one lock actor after the other.
type worker struct {
	tb      testing.TB
	session *actors.Session
	over    chan<- struct{}
	wanted  int
	lock    *actor.PID
}

func (w *worker) receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case int:
		w.wanted = msg
		w.begin(ctx)
	case *messages.Held:
		ctx.Send(w.lock, &messages.Release{})
	case *messages.Released:
		w.begin(ctx)
	case *messages.Failed, *messages.Lost, *messages.Cancelled:
		w.tb.Errorf("a request ended with %T %+v", msg, msg)
		w.over <- struct{}{}
	}
}

func (w *worker) begin(ctx actor.Context) {
	if w.wanted == 0 {
		w.over <- struct{}{}
		return
	}
	w.wanted--
	w.lock = ctx.Spawn(actors.NewLock(w.session, messages.Acquire{Path: "/cycles"}))
}

// BenchmarkCycle is a lock and an unlock by lock actors, with an embedded server in the same process.
func BenchmarkCycle(b *testing.B) {
	for name, workers := range map[string]int{"uncontended": 1, "2 in turn": 2, "128 in turn": 128} {
		b.Run(name, func(b *testing.B) {
			c := newCycler(b, workers)
			b.ReportAllocs()
			b.ResetTimer()
			c.cycles((b.N + workers - 1) / workers)
		})
	}
}
