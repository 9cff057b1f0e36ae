package figures_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOneAfterTheOther: two requests of one session, and what is held and waited for meanwhile. Each hand-off is timed, once, as
// one of a session, but where the lock was given back before the one behind it had looked.
func TestOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	const rounds = 10
	for round := range rounds {
		first := w.lock(client.Mutex("/orders/42"))
		second := scene.Queue(t, client, "/orders/42")
		require.Equal(t, 1, w.value("turnstile.lock.waiting", "exclusive"))
		require.Equal(t, 1, w.value("turnstile.lock.held", "exclusive"))
		require.Equal(t, 2*round+1, w.value("turnstile.lock.grants", "exclusive"))
		require.Equal(t, 2*round, w.count("turnstile.lock.hold.duration", "exclusive", "released"))
		w.unlock(first)
		w.unlock(second.Granted(t))
	}
	w.settled(2*rounds, 2*rounds)
	require.Equal(t, 2*rounds, w.count("turnstile.lock.acquire.duration", "exclusive"))
	local := w.count("turnstile.lock.handoff.duration", "exclusive", "local")
	require.Equal(t, rounds, local+w.count("turnstile.lock.handoff.duration", "exclusive", "remote"))
	require.Positive(t, local)
}

// TestBetweenSessions: a hand-off from one session to another is timed from the event.
func TestBetweenSessions(t *testing.T) {
	w := newWorld(t)
	first, waiter := w.lock(w.open().Mutex("/orders/42")), w.open()
	watch := w.inject(waiter, embedded.Fault{Op: embedded.OpGetData, Path: "/orders/42/" + first.Node(), Action: embedded.Pass})
	second := scene.Queue(t, waiter, "/orders/42")
	require.Equal(t, 2, w.value("turnstile.session.count", "connected"))
	require.NoError(t, watch.Wait(scene.Deadline(t))) // or else it finds out by its question that the first has gone
	w.unlock(first)
	w.unlock(second.Granted(t))
	require.Equal(t, 1, w.count("turnstile.lock.handoff.duration", "exclusive", "remote"))
	require.Zero(t, w.count("turnstile.lock.handoff.duration", "exclusive", "local"))
}

// TestTimesAreSeconds: the times are at most what has passed between the calls on the outside, in
// seconds.
func TestTimesAreSeconds(t *testing.T) {
	w := newWorld(t)
	mutex := w.open().Mutex("/orders/42")
	const hold = 30 * time.Millisecond
	began := time.Now()
	lease := w.lock(mutex)
	time.Sleep(hold) // the hold is measured
	w.unlock(lease)
	passed := time.Since(began).Seconds()
	held := w.read("turnstile.lock.hold.duration", "exclusive", "released").value
	acquire := w.read("turnstile.lock.acquire.duration", "exclusive").value
	require.GreaterOrEqual(t, held, hold.Seconds())
	require.Positive(t, acquire)
	require.LessOrEqual(t, acquire+held, passed)
}

// TestRecovery: the connection is cut under a holder, which goes on when it is back: one grant, one hold, whose span tells of it.
func TestRecovery(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	mutex, rec := scene.Recorded(t, client, "/orders/42")
	lease := w.lock(mutex)
	w.cut(client)
	_, err := rec.AwaitNth(scene.Deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.Equal(t, 1, w.value("turnstile.lock.recoveries", "exclusive", "disconnected"))
	require.Equal(t, 1, w.value("turnstile.session.interruptions", "disconnected"))
	require.Equal(t, 1, w.value("turnstile.session.count", "connected"))
	require.Zero(t, w.value("turnstile.session.count", "disconnected"))
	w.unlock(lease)
	require.Equal(t, 1, w.count("turnstile.lock.hold.duration", "exclusive", "released"))
	w.settled(1, 1)
	hold := w.ended(client, "turnstile.lock.hold")
	require.Len(t, hold, 1)
	require.Equal(t, codes.Unset, hold[0].Status().Code)
	require.Equal(t, []string{"suspended", "resumed"}, eventsOf(hold[0]))
}

// TestModes: each kind of lock is told apart.
func TestModes(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	rw := client.RWMutex("/rw")
	for m, lock := range map[string]func(context.Context) (*locks.Lease, error){
		"read": rw.RLock, "write": rw.Lock, "contest": client.Contest("/contest").Lock,
		"semaphore": func(ctx context.Context) (*locks.Lease, error) { return client.Semaphore("/sem", 2).Acquire(ctx, 1) },
	} {
		lease := scene.Locked(t, lock)
		require.Equal(t, 1, w.value("turnstile.lock.held", m), m)
		w.unlock(lease)
		require.Zero(t, w.value("turnstile.lock.held", m), m)
		require.Equal(t, 1, w.value("turnstile.lock.grants", m), m)
	}
}

// TestLabels: what is made of a path is told; the path is not.
func TestLabels(t *testing.T) {
	w := newWorld(t)
	client := w.open(locks.WithMeterLabels(func(path string) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("app.area", strings.Split(path, "/")[1])}
	}))
	for _, path := range []string{"/orders/42", "/orders/43", "/stock/1"} {
		w.unlock(w.lock(client.Mutex(path)))
	}
	require.Equal(t, 2, w.value("turnstile.lock.grants", "exclusive", "orders"))
	require.Equal(t, 1, w.value("turnstile.lock.grants", "exclusive", "stock"))
	require.Equal(t, 2, w.count("turnstile.lock.hold.duration", "exclusive", "orders", "released"))
}

// TestSpans: acquiring and holding are children of the caller's span, and what is done with the lease's context is a
// child of the hold.
func TestSpans(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	ctx, caller := w.caller()
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.Len(t, w.ended(client, "turnstile.lock.acquire"), 1)
	require.Empty(t, w.ended(client, "turnstile.lock.hold"))
	_, work := w.traces.Tracer("test").Start(lease.Context(), "work")
	work.End()
	w.unlock(lease)
	caller.End()

	acquire, hold := w.ended(client, "turnstile.lock.acquire")[0], w.ended(client, "turnstile.lock.hold")[0]
	require.Len(t, w.ended(client, "turnstile.lock.hold"), 1)
	for _, s := range []sdktrace.ReadOnlySpan{acquire, hold} {
		require.Equal(t, caller.SpanContext().SpanID(), s.Parent().SpanID())
		require.Equal(t, caller.SpanContext().TraceID(), s.SpanContext().TraceID())
		require.Equal(t, codes.Unset, s.Status().Code)
		require.Equal(t, map[attribute.Key]any{
			"turnstile.lock.path": "/orders/42", "turnstile.lock.mode": "exclusive",
			"turnstile.lock.node": lease.Node(), "turnstile.lock.token": int64(lease.Token()),
			"turnstile.session.id": fmt.Sprintf("0x%x", client.Session().ID()),
		}, attributesOf(s))
	}
	require.Equal(t, trace.SpanKindClient, acquire.SpanKind())
	require.Equal(t, hold.SpanContext().SpanID(), w.ended(client, "work")[0].Parent().SpanID())
	require.False(t, hold.StartTime().Before(acquire.StartTime()))
	require.Empty(t, hold.Events())
}

// TestSpansOfADowngrade: the reader's spans are children of the writer's hold, which ends as it should.
func TestSpansOfADowngrade(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	writer := scene.Locked(t, client.RWMutex("/orders/42").Lock)
	ctx, caller := w.caller()
	reader, err := writer.Downgrade(ctx)
	require.NoError(t, err)
	caller.End()
	w.unlock(reader)
	acquires, holds := w.ended(client, "turnstile.lock.acquire"), w.ended(client, "turnstile.lock.hold")
	require.Len(t, acquires, 2)
	require.Len(t, holds, 2)
	require.Equal(t, "write", attributesOf(holds[0])["turnstile.lock.mode"])
	for _, s := range []sdktrace.ReadOnlySpan{acquires[1], holds[1]} {
		require.Equal(t, "read", attributesOf(s)["turnstile.lock.mode"])
		require.Equal(t, holds[0].SpanContext().SpanID(), s.Parent().SpanID())
	}
	for _, s := range holds {
		require.Equal(t, codes.Unset, s.Status().Code)
	}
}

// TestSpanOfALateAnswer: Lock was given up before its node was known to exist: no hold begins when it is, and no span goes on.
func TestSpanOfALateAnswer(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	kept := w.inject(client, embedded.Fault{Op: embedded.OpCreate, Action: embedded.HoldReplies})
	ctx, cancel := context.WithCancel(scene.Deadline(t))
	gaveUp := scene.Elsewhere(ctx, client.Mutex("/orders/42").Lock)
	require.NoError(t, kept.Wait(scene.Deadline(t)))
	cancel()
	require.ErrorIs(t, scene.Receive(t, gaveUp).Err, context.Canceled)
	kept.Release()
	w.unlock(w.lock(client.Mutex("/orders/42")))
	require.Len(t, w.ended(client, "turnstile.lock.hold"), 1)
	require.Equal(t, len(w.spans.Started()), len(w.spans.Ended()), "a span never ends")
}

// TestNoSpans: without a TracerProvider the caller's span stays what it is.
func TestNoSpans(t *testing.T) {
	w := newWorld(t)
	ctx, caller := w.caller()
	lease, err := w.open(locks.WithTracerProvider(nil)).Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.Equal(t, caller, trace.SpanFromContext(lease.Context()))
	w.unlock(lease)
	caller.End()
	require.Len(t, w.spans.Ended(), 1)
}
