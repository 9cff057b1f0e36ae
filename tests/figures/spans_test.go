package figures_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// traced is a server, a client that makes spans, and the spans that have ended.
type traced struct {
	*world
	spans  *tracetest.SpanRecorder
	tracer trace.Tracer
	client *locks.Client
}

func newTraced(t *testing.T) *traced {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	w := &world{t: t, server: embedded.Run(t)}
	return &traced{w, spans, provider.Tracer("test"),
		patient.Open(t, w.server.Addr(), locks.WithTracerProvider(provider))}
}

// ended gives the spans of a name that have ended, in that order.
func (w *traced) ended(name string) (found []sdktrace.ReadOnlySpan) {
	require.True(w.t, w.client.Session().Told().Wait(patient.Deadline(w.t)))
	for _, s := range w.spans.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
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

// TestSpans: acquiring and holding are children of the caller's span, and what is done with the lease's context is a
// child of the hold.
func TestSpans(t *testing.T) {
	w := newTraced(t)
	ctx, caller := w.tracer.Start(patient.Deadline(t), "caller")
	lease, err := w.client.Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.Len(t, w.ended("turnstile.lock.acquire"), 1)
	require.Empty(t, w.ended("turnstile.lock.hold"))
	_, work := w.tracer.Start(lease.Context(), "work")
	work.End()
	w.unlock(lease)
	caller.End()

	acquire, hold := w.ended("turnstile.lock.acquire")[0], w.ended("turnstile.lock.hold")[0]
	require.Len(t, w.ended("turnstile.lock.hold"), 1)
	for _, s := range []sdktrace.ReadOnlySpan{acquire, hold} {
		require.Equal(t, caller.SpanContext().SpanID(), s.Parent().SpanID())
		require.Equal(t, caller.SpanContext().TraceID(), s.SpanContext().TraceID())
		require.Equal(t, codes.Unset, s.Status().Code)
		require.Equal(t, map[attribute.Key]any{
			"turnstile.lock.path": "/orders/42", "turnstile.lock.mode": "exclusive",
			"turnstile.lock.node": lease.Node(), "turnstile.lock.token": int64(lease.Token()),
			"turnstile.session.id": fmt.Sprintf("0x%x", w.client.Session().ID()),
		}, attributesOf(s))
	}
	require.Equal(t, trace.SpanKindClient, acquire.SpanKind())
	require.Equal(t, hold.SpanContext().SpanID(), w.ended("work")[0].Parent().SpanID())
	require.False(t, hold.StartTime().Before(acquire.StartTime()))
	require.Empty(t, hold.Events())
}

// TestSpansOfWhoGivesUp: an error with its type, and no hold.
func TestSpansOfWhoGivesUp(t *testing.T) {
	w := newTraced(t)
	mutex := w.client.Mutex("/orders/42")
	lease := w.lock(mutex)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, done := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer done()
	for _, of := range []struct {
		want string
		lock func() (*locks.Lease, error)
	}{
		{"not_acquired", func() (*locks.Lease, error) { return mutex.TryLock(patient.Deadline(t)) }},
		{"timeout", func() (*locks.Lease, error) { return mutex.Lock(late) }},
		{"cancelled", func() (*locks.Lease, error) { return mutex.Lock(cancelled) }},
		{"bad_input", func() (*locks.Lease, error) { return w.client.Mutex("relative").Lock(t.Context()) }},
		{"reentry", func() (*locks.Lease, error) { return mutex.Lock(lease.Context()) }},
	} {
		before := len(w.ended("turnstile.lock.acquire"))
		_, err := of.lock()
		require.Error(t, err, of.want)
		spans := w.ended("turnstile.lock.acquire")
		require.Len(t, spans, before+1)
		span := spans[before]
		require.Equal(t, codes.Error, span.Status().Code)
		require.Equal(t, err.Error(), span.Status().Description)
		require.Equal(t, of.want, attributesOf(span)["error.type"])
		require.NotContains(t, attributesOf(span), attribute.Key("turnstile.lock.token"))
	}
	w.unlock(lease)
	require.Len(t, w.ended("turnstile.lock.hold"), 1)
}

// TestSpanOfALoss: the hold ends as an error.
func TestSpanOfALoss(t *testing.T) {
	w := newTraced(t)
	lease := w.lock(w.client.Mutex("/orders/42"))
	require.NoError(t, w.server.Expire(w.client.Session().ID()))
	require.ErrorIs(t, lease.Unlock(w.after(lease)), locks.ErrLost)
	hold := w.ended("turnstile.lock.hold")
	require.Len(t, hold, 1)
	require.Equal(t, codes.Error, hold[0].Status().Code)
	require.Equal(t, "session_expired", attributesOf(hold[0])["error.type"])
	require.Subset(t, []string{"suspended"}, eventsOf(hold[0]))
}

// TestSpanOfARevocation: the lock was asked for, and taken.
func TestSpanOfARevocation(t *testing.T) {
	w := newTraced(t)
	lease := w.lock(w.client.Mutex("/orders/42", locks.WithGrace(time.Millisecond)))
	_, err := w.client.Revoke(patient.Deadline(t), "/orders/42")
	require.NoError(t, err)
	require.ErrorIs(t, lease.Unlock(w.after(lease)), locks.ErrRevoked)
	hold := w.ended("turnstile.lock.hold")
	require.Len(t, hold, 1)
	require.Equal(t, codes.Error, hold[0].Status().Code)
	require.Equal(t, "revoked", attributesOf(hold[0])["error.type"])
	require.Equal(t, []string{"revoke requested"}, eventsOf(hold[0]))
}

// TestSpanOfAnInterruption: the hold goes on, and its span tells of it.
func TestSpanOfAnInterruption(t *testing.T) {
	w := newTraced(t)
	rec := patient.Recorder(t, w.client)
	lease := w.lock(w.client.Mutex("/orders/42", locks.WithObserver(rec.PID())))
	w.cut(w.client)
	_, err := rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	w.unlock(lease)
	hold := w.ended("turnstile.lock.hold")
	require.Len(t, hold, 1)
	require.Equal(t, codes.Unset, hold[0].Status().Code)
	require.Equal(t, []string{"suspended", "resumed"}, eventsOf(hold[0]))
}

// TestSpansOfADowngrade: the reader's spans are children of the writer's hold, which ends as it should.
func TestSpansOfADowngrade(t *testing.T) {
	w := newTraced(t)
	writer := patient.Locked(t, w.client.RWMutex("/orders/42").Lock)
	ctx, caller := w.tracer.Start(patient.Deadline(t), "caller")
	reader, err := writer.Downgrade(ctx)
	require.NoError(t, err)
	caller.End()
	w.unlock(reader)
	acquires, holds := w.ended("turnstile.lock.acquire"), w.ended("turnstile.lock.hold")
	require.Len(t, acquires, 2)
	require.Len(t, holds, 2)
	written := holds[0]
	require.Equal(t, "write", attributesOf(written)["turnstile.lock.mode"])
	for _, s := range []sdktrace.ReadOnlySpan{acquires[1], holds[1]} {
		require.Equal(t, "read", attributesOf(s)["turnstile.lock.mode"])
		require.Equal(t, written.SpanContext().SpanID(), s.Parent().SpanID())
	}
	for _, s := range holds {
		require.Equal(t, codes.Unset, s.Status().Code)
	}
}

// TestSpanOfALateAnswer: Lock was given up before its node was known to exist: no hold begins when it is, and no span goes on.
func TestSpanOfALateAnswer(t *testing.T) {
	w := newTraced(t)
	kept, err := w.server.Inject(embedded.Fault{Session: w.client.Session().ID(), Op: embedded.OpCreate, Action: embedded.HoldReplies})
	require.NoError(t, err)
	defer kept.Remove()
	w.lockAndGiveUp("/orders/42", kept)
	kept.Release()
	w.unlock(w.lock(w.client.Mutex("/orders/42")))
	require.Len(t, w.ended("turnstile.lock.hold"), 1)
	require.Equal(t, len(w.spans.Started()), len(w.spans.Ended()), "a span never ends")
}

// lockAndGiveUp calls Lock, and gives up when the servers have kept an answer back.
func (w *traced) lockAndGiveUp(path string, kept *embedded.Injection) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(patient.Deadline(w.t))
	gaveUp := make(chan error, 1)
	go func() { _, err := w.client.Mutex(path).Lock(ctx); gaveUp <- err }()
	require.NoError(w.t, kept.Wait(patient.Deadline(w.t)))
	cancel()
	require.ErrorIs(w.t, <-gaveUp, context.Canceled)
}

// TestNoSpans: without a TracerProvider the caller's span stays what it is.
func TestNoSpans(t *testing.T) {
	w := newTraced(t)
	client := patient.Open(t, w.server.Addr(), locks.WithTracerProvider(nil))
	ctx, caller := w.tracer.Start(patient.Deadline(t), "caller")
	lease, err := client.Mutex("/orders/42").Lock(ctx)
	require.NoError(t, err)
	require.Equal(t, caller, trace.SpanFromContext(lease.Context()))
	w.unlock(lease)
	caller.End()
	require.Len(t, w.spans.Ended(), 1)
}
