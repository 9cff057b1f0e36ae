package figures_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestOneAfterTheOther: two requests of one session, and what is held and waited for meanwhile.
func TestOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	mutex := w.open().Mutex("/orders/42")
	first := w.lock(mutex)
	second := w.inBackground(mutex)
	patient.Eventually(t, func() bool { return w.value("turnstile.lock.waiting", exclusive) == 1 }, "the second waits")
	require.EqualValues(t, 1, w.value("turnstile.lock.held", exclusive))
	require.EqualValues(t, 1, w.value("turnstile.lock.grants", exclusive))
	require.Zero(t, w.count("turnstile.lock.hold.duration", exclusive, reason("released")))

	w.unlock(first)
	lease := <-second
	require.EqualValues(t, 1, w.value("turnstile.lock.held", exclusive))
	w.unlock(lease)
	require.Zero(t, w.value("turnstile.lock.held", exclusive))
	require.Zero(t, w.value("turnstile.lock.waiting", exclusive))
	require.EqualValues(t, 2, w.value("turnstile.lock.grants", exclusive))
	require.Equal(t, 2, w.count("turnstile.lock.acquire.duration", exclusive))
	require.Equal(t, 2, w.count("turnstile.lock.hold.duration", exclusive, reason("released")))
	w.noLosses()
}

// TestHandOffs: each hand-off is timed, once; between requests of one session as one of a session, but where the lock was
// given back before the one behind it had looked.
func TestHandOffs(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	const rounds = 10
	for range rounds {
		rec := patient.Recorder(t, client)
		first := w.lock(client.Mutex("/orders/42"))
		second := w.inBackground(client.Mutex("/orders/42", locks.WithObserver(rec.PID())))
		_, err := rec.Await(patient.Deadline(t), messages.StateWatching)
		require.NoError(t, err)
		w.unlock(first)
		w.unlock(<-second)
	}
	local := w.count("turnstile.lock.handoff.duration", exclusive, handoff("local"))
	require.Equal(t, rounds, local+w.count("turnstile.lock.handoff.duration", exclusive, handoff("remote")))
	require.Positive(t, local)
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
	held := w.value("turnstile.lock.hold.duration", exclusive, reason("released"))
	acquire := w.value("turnstile.lock.acquire.duration", exclusive)
	require.GreaterOrEqual(t, held, hold.Seconds())
	require.Positive(t, acquire)
	require.LessOrEqual(t, acquire+held, passed)
}

// TestBetweenSessions: a hand-off from one session to another is timed from the event.
func TestBetweenSessions(t *testing.T) {
	w := newWorld(t)
	first := w.lock(w.open().Mutex("/orders/42"))
	behind := w.open()
	rec := patient.Recorder(t, behind)
	second := w.inBackground(behind.Mutex("/orders/42", locks.WithObserver(rec.PID())))
	_, err := rec.Await(patient.Deadline(t), messages.StateWatching)
	require.NoError(t, err)
	require.EqualValues(t, 2, w.value("turnstile.session.count", state("connected")))
	patient.Eventually(t, func() bool { // or else it finds out by its question that the first has gone
		watches, err := rig.Address(w.server.Addr()).Watches(patient.Deadline(t))
		return err == nil && watches > 0
	}, "it watches the node before its own")
	w.unlock(first)
	w.unlock(<-second)
	require.Equal(t, 1, w.count("turnstile.lock.handoff.duration", exclusive, handoff("remote")))
	require.Zero(t, w.count("turnstile.lock.handoff.duration", exclusive, handoff("local")))
}

// TestGivingUp: requests that do not get their lock are timed by why.
func TestGivingUp(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	mutex := client.Mutex("/orders/42")
	lease := w.lock(mutex)
	_, err := mutex.TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.Equal(t, 1, w.count("turnstile.lock.acquire.duration", exclusive, errorType("not_acquired")))

	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() { _, err := mutex.Lock(ctx); gaveUp <- err }()
	patient.Eventually(t, func() bool { return w.value("turnstile.lock.waiting", exclusive) == 1 }, "it waits")
	cancel()
	require.ErrorIs(t, <-gaveUp, context.Canceled)
	patient.Eventually(t, func() bool { return w.value("turnstile.lock.waiting", exclusive) == 0 }, "it waits no more")
	patient.Eventually(t, func() bool {
		return w.count("turnstile.lock.acquire.duration", exclusive, errorType("cancelled")) == 1
	}, "its time is told")
	gone := func(why string) int {
		return w.count("turnstile.lock.acquire.duration", exclusive, errorType(why))
	}
	for d := time.Millisecond; gone("timeout")+gone("cancelled") == 1; d *= 2 { // until it has waited
		late, done := context.WithTimeout(t.Context(), d)
		_, err = mutex.Lock(late)
		done()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		patient.Eventually(t, func() bool { return w.value("turnstile.lock.waiting", exclusive) == 0 }, "it waits no more")
	}
	require.Equal(t, 1, gone("cancelled"), "a deadline is none of them")
	w.unlock(lease)
	require.EqualValues(t, 1, w.value("turnstile.lock.grants", exclusive))
}

// TestLossByExpiry: the server ends the session under a holder.
func TestLossByExpiry(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	lease := w.lock(client.Mutex("/orders/42"))
	require.NoError(t, w.server.Expire(client.Session().ID()))
	select {
	case <-lease.Context().Done():
	case <-patient.Deadline(t).Done():
		t.Fatal("the lease never ended")
	}
	var lost *locks.Error
	require.ErrorAs(t, lease.Unlock(patient.Deadline(t)), &lost)
	require.Equal(t, messages.ReasonSessionExpired, lost.Reason)
	require.EqualValues(t, 1, w.value("turnstile.lock.losses", exclusive, reason("session_expired")))
	require.Equal(t, 1, w.count("turnstile.lock.hold.duration", exclusive, reason("session_expired")))
	require.Zero(t, w.value("turnstile.lock.held", exclusive))
	w.unlock(w.lock(client.Mutex("/orders/42"))) // in the session after it
	require.EqualValues(t, 1, w.value("turnstile.session.interruptions", cause("expired")))
	require.EqualValues(t, 1, w.value("turnstile.session.count", state("connected")))
	require.EqualValues(t, 2, w.value("turnstile.lock.grants", exclusive))
}

// TestLossByClosing: the program closes the client under a holder.
func TestLossByClosing(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	lease := w.lock(client.Mutex("/orders/42"))
	patient.Closed(t, client.Close(patient.Deadline(t)))
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrClosed)
	require.EqualValues(t, 1, w.value("turnstile.lock.losses", exclusive, reason("session_closed")))
	require.Zero(t, w.value("turnstile.session.count", state("connected")))
	require.NotContains(t, w.collect(), "turnstile.session.lease.remaining")
}

// TestRevocations: revoke requests, and leases ended by force when the grace period is over. Each counts once, also where
// observers watch the lock actor, which then keeps the grace.
func TestRevocations(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	for i, of := range []locks.LockOption{locks.WithLabel("me"), locks.WithObserver(patient.Recorder(t, client).PID())} {
		w.revoked(client, of)
		require.EqualValues(t, i+1, w.value("turnstile.lock.revocations", exclusive, revocation("asked")))
		require.EqualValues(t, i+1, w.value("turnstile.lock.revocations", exclusive, revocation("forced")))
		require.Equal(t, i+1, w.count("turnstile.lock.hold.duration", exclusive, reason("revoked")))
	}
	w.noLosses()
}

// revoked has a lock taken from its holder.
func (w *world) revoked(client *locks.Client, of locks.LockOption) {
	t := w.t
	lease := w.lock(client.Mutex("/orders/42", locks.WithGrace(10*time.Millisecond), of))
	_, err := client.Revoke(patient.Deadline(t), "/orders/42")
	require.NoError(t, err)
	select {
	case <-lease.Context().Done():
	case <-patient.Deadline(t).Done():
		t.Fatal("the lease never ended")
	}
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrRevoked)
}

// TestRecovery: the connection is cut under a holder, which goes on when it is back: one grant, one
// hold.
func TestRecovery(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	rec := patient.Recorder(t, client)
	lease := w.lock(client.Mutex("/orders/42", locks.WithObserver(rec.PID())))
	w.cut(client)
	_, err := rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.EqualValues(t, 1, w.value("turnstile.lock.recoveries", exclusive, cause("disconnected")))
	require.EqualValues(t, 1, w.value("turnstile.session.interruptions", cause("disconnected")))
	require.EqualValues(t, 1, w.value("turnstile.session.count", state("connected")))
	require.Zero(t, w.value("turnstile.session.count", state("disconnected")))
	w.unlock(lease)
	require.EqualValues(t, 1, w.value("turnstile.lock.grants", exclusive))
	require.Equal(t, 1, w.count("turnstile.lock.hold.duration", exclusive, reason("released")))
	require.Zero(t, w.value("turnstile.lock.held", exclusive))
}

// TestModes: each kind of lock is told apart.
func TestModes(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	ctx := patient.Deadline(t)
	rw := client.RWMutex("/rw")
	for m, lock := range map[messages.Mode]func(context.Context) (*locks.Lease, error){
		messages.Read:      rw.RLock,
		messages.Write:     rw.Lock,
		messages.Semaphore: func(ctx context.Context) (*locks.Lease, error) { return client.Semaphore("/sem", 2).Acquire(ctx, 1) },
		messages.Contest:   client.Contest("/contest").Lock,
	} {
		lease, err := lock(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, w.value("turnstile.lock.held", mode(m)), m)
		w.unlock(lease)
		require.Zero(t, w.value("turnstile.lock.held", mode(m)), m)
		require.EqualValues(t, 1, w.value("turnstile.lock.grants", mode(m)), m)
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
	orders, stock := attribute.String("app.area", "orders"), attribute.String("app.area", "stock")
	require.EqualValues(t, 2, w.value("turnstile.lock.grants", exclusive, orders))
	require.EqualValues(t, 1, w.value("turnstile.lock.grants", exclusive, stock))
	require.Equal(t, 2, w.count("turnstile.lock.hold.duration", exclusive, orders, reason("released")))
}

// noLosses: losses are counted, and the count is zero.
func (w *world) noLosses() {
	w.t.Helper()
	losses := points(w.collect()["turnstile.lock.losses"])
	require.NotEmpty(w.t, losses)
	for _, p := range losses {
		require.Zero(w.t, p.value, p.attributes.ToSlice())
	}
}

// cut closes a client's connection under a request.
func (w *world) cut(client *locks.Client) {
	w.t.Helper()
	fault, err := w.server.Inject(embedded.Fault{Session: client.Session().ID(), Action: embedded.CutBefore})
	require.NoError(w.t, err)
	_, _ = client.Queue(patient.Deadline(w.t), "/orders/42") // the request; whether it is answered is all the same
	require.NoError(w.t, fault.Wait(patient.Deadline(w.t)))
}
