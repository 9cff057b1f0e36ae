package figures_test

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// told counts the values of a histogram, with any attributes.
func (w *world) told(name string) (n int) {
	w.t.Helper()
	for _, p := range points(w.collect()[name]) {
		n += int(p.count)
	}
	return n
}

// settled: so many requests have ended, so many of them after a grant, each counted once; and none holds or waits.
func (w *world) settled(requests, granted int) {
	w.t.Helper()
	patient.Eventually(w.t, func() bool {
		return w.value("turnstile.lock.held", exclusive) == 0 && w.value("turnstile.lock.waiting", exclusive) == 0
	}, "somebody holds or waits")
	require.Equal(w.t, requests, w.told("turnstile.lock.acquire.duration"))
	require.EqualValues(w.t, granted, w.value("turnstile.lock.grants", exclusive))
	require.Equal(w.t, granted, w.told("turnstile.lock.hold.duration"))
	require.NotContains(w.t, w.collect(), "turnstile.session.lease.remaining")
}

// TestBroken: an operator deletes the holder's node.
func TestBroken(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	lease := w.lock(client.Mutex("/orders/42"))
	queue, err := client.Queue(patient.Deadline(t), "/orders/42")
	require.NoError(t, err)
	require.NoError(t, client.Break(patient.Deadline(t), queue[0]))
	require.ErrorIs(t, lease.Unlock(w.after(lease)), locks.ErrLost)
	require.EqualValues(t, 1, w.value("turnstile.lock.losses", exclusive, reason("node_deleted")))
	w.settled(1, 1)
}

// TestLeaseOver: nothing is heard of the ensemble, on any connection, and the lease runs out.
func TestLeaseOver(t *testing.T) {
	w := newWorld(t)
	client := w.open(locks.WithSessionTimeout(10 * time.Second))
	lease := w.lock(client.Mutex("/orders/42"))
	kept, err := w.server.Inject(embedded.Fault{Session: client.Session().ID(), Op: embedded.OpMulti, Count: -1, Action: embedded.HoldReplies})
	require.NoError(t, err)
	defer kept.Remove()
	require.ErrorIs(t, lease.Unlock(w.after(lease)), locks.ErrLost)
	require.EqualValues(t, 1, w.value("turnstile.lock.losses", exclusive, reason("lease_over")))
	kept.Remove()
	kept.Release()
	w.settled(1, 1)
}

// TestExpiryThatIsFoundFirst: the server's word ends the lease, before the session actor hears of it. The holder learns that
// the session has expired, and not only that the lease ran out.
func TestExpiryThatIsFoundFirst(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	lease := w.lock(client.Mutex("/orders/42"))
	require.NoError(t, w.server.Expire(client.Session().ID()))
	patient.Receive(t, lease.Context().Done())
	var lost *locks.Error
	for _, err := range []error{context.Cause(lease.Context()), lease.Unlock(w.after(lease))} {
		require.ErrorAs(t, err, &lost)
		require.Equal(t, messages.ReasonSessionExpired, lost.Reason)
	}
	require.EqualValues(t, 1, w.value("turnstile.lock.losses", exclusive, reason("session_expired")))
}

// TestWaitingOverAnExpiry: a waiter queues again in the next session, and is counted as one all the
// time.
func TestWaitingOverAnExpiry(t *testing.T) {
	w := newWorld(t)
	holder, client := w.open(), w.open()
	lease := w.lock(holder.Mutex("/orders/42"))
	rec := patient.Recorder(t, client)
	second := w.inBackground(client.Mutex("/orders/42", locks.WithObserver(rec.PID())))
	_, err := rec.Await(patient.Deadline(t), messages.StateWatching)
	require.NoError(t, err)
	require.NoError(t, w.server.Expire(client.Session().ID()))
	_, err = rec.AwaitNth(patient.Deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)
	require.EqualValues(t, 1, w.value("turnstile.lock.waiting", exclusive))
	w.unlock(lease)
	w.unlock(<-second)
	w.settled(2, 2)
	w.noLosses()
}

// TestStoppedLockActors: a program stops lock actors of its own, one that holds and one that waits.
func TestStoppedLockActors(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	rec := patient.Recorder(t, client)
	root := client.System().Root
	spawn := func() *actor.PID {
		return root.Spawn(actors.NewLock(client.Session(), messages.Acquire{Path: "/orders/42"}, actors.WithObserver(rec.PID())))
	}
	first := spawn()
	_, err := rec.Await(patient.Deadline(t), messages.StateHeld)
	require.NoError(t, err)
	second := spawn()
	_, err = rec.Await(patient.Deadline(t), messages.StateWatching)
	require.NoError(t, err)
	root.Stop(second)
	patient.Eventually(t, func() bool {
		return w.count("turnstile.lock.acquire.duration", exclusive, errorType("stopped")) == 1
	}, "the one that waited has not ended")
	root.Stop(first)
	patient.Eventually(t, func() bool {
		return w.count("turnstile.lock.hold.duration", exclusive, reason("stopped")) == 1
	}, "the one that held has not ended")
	w.settled(2, 1)
	w.noLosses()
}

// TestRetainingIsNotHolding: a retained node of a sticky lock is held by nobody, and is not lost with its session.
func TestRetainingIsNotHolding(t *testing.T) {
	for name, end := range map[string]func(*world, *locks.Client) error{
		"expired": func(w *world, client *locks.Client) error { return w.server.Expire(client.Session().ID()) },
		"closed": func(w *world, client *locks.Client) error {
			patient.Closed(w.t, client.Close(patient.Deadline(w.t)))
			return nil
		},
		"cut": func(w *world, client *locks.Client) error { w.cut(client); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.open()
			mutex := client.Mutex("/orders/42", locks.WithSticky(patient.Bound))
			w.unlock(w.lock(mutex))
			w.unlock(w.lock(mutex))
			w.settled(2, 2)
			require.NoError(t, end(w, client))
			other := w.open()
			patient.Eventually(t, func() bool {
				queue, err := other.Queue(context.Background(), "/orders/42")
				return err == nil && (len(queue) == 0 || name == "cut") // over which it is kept
			}, "the node has not gone")
			w.settled(2, 2)
			w.noLosses()
		})
	}
}

// TestReentered: each lease of a hold is a grant.
func TestReentered(t *testing.T) {
	w := newWorld(t)
	mutex := w.open().Mutex("/orders/42", locks.WithReentry())
	outer := w.lock(mutex)
	inner, err := mutex.Lock(outer.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, w.value("turnstile.lock.held", exclusive))
	w.unlock(inner)
	require.EqualValues(t, 1, w.value("turnstile.lock.held", exclusive))
	w.unlock(outer)
	w.settled(2, 2)
}

// after waits for the end of a lease, and gives a context for the time after it.
func (w *world) after(lease *locks.Lease) context.Context {
	w.t.Helper()
	ctx := patient.Deadline(w.t)
	select {
	case <-lease.Context().Done():
	case <-ctx.Done():
		w.t.Fatal("the lease never ended")
	}
	return ctx
}
