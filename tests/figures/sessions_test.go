package figures_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestBatches: every create and delete is counted once, in the batch that it was sent with.
func TestBatches(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	const locksAtOnce = 40
	before, sent := w.read("turnstile.session.batch.size"), w.value("turnstile.session.batches")
	var all sync.WaitGroup
	for i := range locksAtOnce {
		all.Go(func() { w.unlock(w.lock(client.Mutex(fmt.Sprintf("/batches/%d", i)))) })
	}
	all.Wait()
	after := w.read("turnstile.session.batch.size")
	require.EqualValues(t, 2*locksAtOnce, after.value-before.value)
	require.EqualValues(t, w.value("turnstile.session.batches"), after.count)
	require.LessOrEqual(t, w.value("turnstile.session.batches")-sent, 2*locksAtOnce)
}

// TestLeaseRemaining is told while something is held, and of two sessions once.
func TestLeaseRemaining(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	require.NotContains(t, w.collect(), "turnstile.session.lease.remaining")
	first, second := w.lock(client.Mutex("/a")), w.lock(w.open().Mutex("/b"))
	left := w.points("turnstile.session.lease.remaining")
	require.Len(t, left, 1)
	require.Positive(t, left[0].value)
	require.LessOrEqual(t, left[0].value, 0.9*scene.Session.Seconds(), "a new connection's")
	w.unlock(first)
	require.Contains(t, w.collect(), "turnstile.session.lease.remaining")
	w.unlock(second)
	require.NotContains(t, w.collect(), "turnstile.session.lease.remaining")
}

// TestStates: a session is in one state, and in none when it has ended.
func TestStates(t *testing.T) {
	w := newWorld(t)
	client, other := w.open(), w.open()
	require.Equal(t, 2, w.value("turnstile.session.count", "connected"))
	scene.Closed(t, other.Close(scene.Deadline(t)))
	require.Equal(t, 1, w.value("turnstile.session.count", "connected"))
	w.server.Replica(0).Stop()
	scene.Eventually(t, func() bool { return w.value("turnstile.session.count", "disconnected") == 1 }, "it is disconnected")
	require.Zero(t, w.value("turnstile.session.count", "connected"))
	require.Zero(t, w.value("turnstile.session.count", "connecting"))
	require.ErrorIs(t, client.Close(context.WithoutCancel(scene.Deadline(t))), locks.ErrSessionRemains)
	w.allZero("turnstile.session.count")
}

// TestSilence: a heartbeat that is not answered.
func TestSilence(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	lease := w.lock(client.Mutex("/a"))
	held := w.inject(client, embedded.Fault{Op: embedded.OpMulti, Action: embedded.HoldReplies})
	scene.Eventually(t, func() bool { return w.value("turnstile.session.interruptions", "silent") > 0 }, "it is silent")
	scene.Eventually(t, func() bool { return w.value("turnstile.lock.recoveries", "exclusive", "silent") == 1 }, "the holder knows")
	held.Release()
	w.unlock(lease)
}

// TestActorSystemsProvider: the MeterProvider of the actor system is the client's, unless it has another, or is to have
// none.
func TestActorSystemsProvider(t *testing.T) {
	w := newWorld(t)
	before := otel.GetMeterProvider()
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	otel.SetMeterProvider(noop.NewMeterProvider()) // where protoactor's own figures go
	system := actor.NewActorSystem(actor.WithMetricProviders(w.provider),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	t.Cleanup(system.Shutdown)

	with := scene.Open(t, w.server.Addr(), locks.WithActorSystem(system))
	w.unlock(w.lock(with.Mutex("/a")))
	require.Equal(t, 1, w.value("turnstile.lock.grants", "exclusive"))

	without := scene.Open(t, w.server.Addr(), locks.WithActorSystem(system), locks.WithMeterProvider(nil))
	w.unlock(w.lock(without.Mutex("/a")))
	require.Equal(t, 1, w.value("turnstile.lock.grants", "exclusive"))
	require.Equal(t, 1, w.value("turnstile.session.count", "connected"))
}

// TestFailedOpen: a session that never came to be is counted no more.
func TestFailedOpen(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := locks.Open(ctx, "127.0.0.1:1", locks.WithMeterProvider(w.provider))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	w.allZero("turnstile.session.count")
}
