package figures_test

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// revoked has somebody ask for the lock. It counts once, and so does the end of the grace period.
func revoked(w *world, client *locks.Client, _ *locks.Lease) func() {
	_, err := client.Revoke(scene.Deadline(w.t), "/orders/42")
	require.NoError(w.t, err)
	return func() {
		for _, how := range []string{"asked", "forced"} {
			require.Equal(w.t, 1, w.value("turnstile.lock.revocations", "exclusive", how), how)
		}
	}
}

// TestEnds: how a hold ends is counted, timed, and in its span. Only what the holder did not bring about is a loss.
func TestEnds(t *testing.T) {
	for _, of := range []struct {
		name   string
		end    func(w *world, client *locks.Client, lease *locks.Lease) (after func())
		err    error
		reason string
		loss   int
		events []string // of the span
		opts   []locks.Option

		observed bool
	}{
		{name: "released", reason: "released", end: func(w *world, _ *locks.Client, lease *locks.Lease) func() {
			w.unlock(lease)
			return nil
		}},
		{name: "an operator deletes the node", reason: "node_deleted", err: locks.ErrLost, loss: 1, end: func(w *world, client *locks.Client, _ *locks.Lease) func() {
			require.NoError(w.t, client.Break(scene.Deadline(w.t), scene.QueueOf(w.t, client, "/orders/42")[0]))
			return nil
		}},
		{name: "nothing is heard of the ensemble", reason: "lease_over", err: locks.ErrLost, loss: 1, events: []string{"suspended"},
			opts: []locks.Option{locks.WithSessionTimeout(10 * time.Second)}, end: func(w *world, client *locks.Client, _ *locks.Lease) func() {
				kept := w.inject(client, embedded.Fault{Op: embedded.OpMulti, Count: -1, Action: embedded.HoldReplies})
				return func() { kept.Remove(); kept.Release() }
			}},
		// The server's word ends the lease, before the session actor hears of it.
		{name: "the server ends the session", reason: "session_expired", err: locks.ErrLost, loss: 1, events: []string{"suspended"},
			end: func(w *world, client *locks.Client, lease *locks.Lease) func() {
				require.NoError(w.t, w.server.Expire(client.Session().ID()))
				return func() {
					var lost *locks.Error
					for _, err := range []error{context.Cause(lease.Context()), lease.Unlock(scene.Deadline(w.t))} {
						require.ErrorAs(w.t, err, &lost)
						require.Equal(w.t, messages.ReasonSessionExpired, lost.Reason)
					}
				}
			}},
		{name: "the client is closed", reason: "session_closed", err: locks.ErrClosed, loss: 1, end: func(w *world, client *locks.Client, _ *locks.Lease) func() {
			scene.Closed(w.t, client.Close(scene.Deadline(w.t)))
			return func() { w.allZero("turnstile.session.count") }
		}},
		{name: "the grace is over", reason: "revoked", err: locks.ErrRevoked, events: []string{"revoke requested"}, end: revoked},
		// The lock actor keeps the grace then.
		{name: "the grace is over, with an observer", reason: "revoked", err: locks.ErrRevoked, events: []string{"revoke requested"}, end: revoked, observed: true},
	} {
		t.Run(of.name, func(t *testing.T) {
			w := newWorld(t)
			client := w.open(of.opts...)
			how := []locks.LockOption{locks.WithGrace(10 * time.Millisecond)}
			if of.observed {
				how = append(how, scene.ObservedBy(scene.Recorder(t, client)))
			}
			lease := w.lock(client.Mutex("/orders/42", how...))
			after := of.end(w, client, lease)
			status := codes.Unset
			if of.err != nil {
				status = codes.Error
				scene.Receive(t, lease.Context().Done())
				require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), of.err)
			}
			if of.loss == 0 {
				w.allZero("turnstile.lock.losses")
			}
			require.Equal(t, of.loss, w.value("turnstile.lock.losses", "exclusive", of.reason))
			require.Equal(t, 1, w.count("turnstile.lock.hold.duration", "exclusive", of.reason))
			if after != nil {
				after()
			}
			w.settled(1, 1)
			holds := w.ended(client, "turnstile.lock.hold")
			require.Len(t, holds, 1)
			require.Equal(t, status, holds[0].Status().Code)
			if of.err != nil {
				require.Equal(t, of.reason, attributesOf(holds[0])["error.type"])
			}
			require.Subset(t, of.events, eventsOf(holds[0]))
			if of.err == locks.ErrRevoked {
				require.Equal(t, of.events, eventsOf(holds[0]))
			}
		})
	}
}

// TestGivingUp: requests that do not get their lock are timed by why, once they are queued, and their spans say so. There is no
// hold.
func TestGivingUp(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	mutex := client.Mutex("/orders/42")
	lease := w.lock(mutex)
	waits := func() bool { return w.value("turnstile.lock.waiting", "exclusive") == 1 }
	for _, of := range []struct {
		want  string
		timed int
		lock  func() error
	}{
		{"not_acquired", 1, func() error { _, err := mutex.TryLock(scene.Deadline(t)); return err }},
		{"cancelled", 1, func() error {
			ctx, cancel := context.WithCancel(t.Context())
			got := scene.Elsewhere(ctx, mutex.Lock)
			scene.Eventually(t, waits, "it waits")
			cancel()
			return scene.Receive(t, got).Err
		}},
		{"timeout", 1, func() (err error) {
			for d := time.Millisecond; w.count("turnstile.lock.acquire.duration", "exclusive", "timeout") == 0; d *= 2 { // until it has waited
				ctx, cancel := context.WithTimeout(t.Context(), d)
				_, err = mutex.Lock(ctx)
				cancel()
				scene.Eventually(t, func() bool { return !waits() }, "it waits no more")
			}
			return err
		}},
		{"bad_input", 0, func() error { _, err := client.Mutex("relative").Lock(t.Context()); return err }},
		{"reentry", 1, func() error { _, err := mutex.Lock(lease.Context()); return err }},
	} {
		err := of.lock()
		require.Error(t, err, of.want)
		scene.Eventually(t, func() bool {
			return !waits() && w.count("turnstile.lock.acquire.duration", "exclusive", of.want) == of.timed
		}, "%s: its time is told", of.want)
		spans := w.ended(client, "turnstile.lock.acquire")
		span := spans[len(spans)-1]
		require.Equal(t, codes.Error, span.Status().Code)
		require.Equal(t, err.Error(), span.Status().Description)
		require.Equal(t, of.want, attributesOf(span)["error.type"])
		require.NotContains(t, attributesOf(span), attribute.Key("turnstile.lock.token"))
	}
	require.Equal(t, 1, w.count("turnstile.lock.acquire.duration", "exclusive", "cancelled"), "a deadline is none of them")
	w.unlock(lease)
	require.Equal(t, 1, w.value("turnstile.lock.grants", "exclusive"))
	require.Len(t, w.ended(client, "turnstile.lock.hold"), 1)
}

// TestWaitingOverAnExpiry: a waiter queues again in the next session, and is counted as one all the
// time.
func TestWaitingOverAnExpiry(t *testing.T) {
	w := newWorld(t)
	holder, client := w.open(), w.open()
	lease := w.lock(holder.Mutex("/orders/42"))
	second := scene.Queue(t, client, "/orders/42")
	require.NoError(t, w.server.Expire(client.Session().ID()))
	_, err := second.Rec.AwaitNth(scene.Deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)
	require.Equal(t, 1, w.value("turnstile.lock.waiting", "exclusive"))
	w.unlock(lease)
	w.unlock(second.Granted(t))
	w.settled(2, 2)
	w.allZero("turnstile.lock.losses")
}

// TestStoppedLockActors: a program stops lock actors of its own, one that holds and one that waits.
func TestStoppedLockActors(t *testing.T) {
	w := newWorld(t)
	client := w.open()
	rec := scene.Recorder(t, client)
	root := client.System().Root
	var spawned [2]*actor.PID
	for i, state := range []messages.State{messages.StateHeld, messages.StateWatching} {
		spawned[i] = root.Spawn(actors.NewLock(client.Session(), messages.Acquire{Path: "/orders/42"}, actors.WithObserver(rec.PID())))
		scene.Await(t, rec, state)
	}
	root.Stop(spawned[1])
	scene.Eventually(t, func() bool { return w.count("turnstile.lock.acquire.duration", "exclusive", "stopped") == 1 }, "the one that waited has ended")
	root.Stop(spawned[0])
	scene.Eventually(t, func() bool { return w.count("turnstile.lock.hold.duration", "exclusive", "stopped") == 1 }, "the one that held has ended")
	w.settled(2, 1)
	w.allZero("turnstile.lock.losses")
}

// TestRetainingIsNotHolding: a lock whose node stayed is granted and held like any other, and no node is made or deleted for
// it. A retained node of a sticky lock is held by nobody, is not lost with its session, and is kept over a cut.
func TestRetainingIsNotHolding(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*world, *locks.Client) error
		nodes int // that are left
	}{
		"expired": {func(w *world, client *locks.Client) error { return w.server.Expire(client.Session().ID()) }, 0},
		"closed": {func(w *world, client *locks.Client) error {
			scene.Closed(w.t, client.Close(scene.Deadline(w.t)))
			return nil
		}, 0},
		"cut": {func(w *world, client *locks.Client) error { w.cut(client); return nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.open()
			mutex := client.Mutex("/orders/42", locks.WithSticky(scene.Bound))
			w.unlock(w.lock(mutex))
			sent := w.value("turnstile.session.batches")
			lease := w.lock(mutex)
			w.unlock(lease)
			require.Equal(t, sent, w.value("turnstile.session.batches"))
			w.settled(2, 2)
			require.NoError(t, c.end(w, client))
			other := w.open()
			scene.Eventually(t, func() bool { return len(scene.QueueOf(t, other, "/orders/42")) == c.nodes }, "%d nodes are left", c.nodes)
			if c.nodes > 0 {
				again := w.lock(mutex)
				require.Equal(t, lease.Node(), again.Node())
				w.unlock(again)
			}
			w.settled(2+c.nodes, 2+c.nodes)
			w.allZero("turnstile.lock.losses")
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
	require.Equal(t, 2, w.value("turnstile.lock.held", "exclusive"))
	w.unlock(inner)
	require.Equal(t, 1, w.value("turnstile.lock.held", "exclusive"))
	w.unlock(outer)
	w.settled(2, 2)
}
