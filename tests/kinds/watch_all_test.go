package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// drain has a number of waiters queue one after the other, and lets them go in that order. It gives how many were
// woken, and how many watch events were sent, while the queue drained: each waiter is in a session of its own.
func drain(t *testing.T, zk *stories.Servers, path string, waiters int, opts ...locks.LockOption) (woken, events int) {
	t.Helper()
	holder := patient.Locked(t, zk.Open(t).Mutex(path).Lock)
	seen := newTally()
	var clients []*locks.Client
	var wires []*wireEvents
	var waiting []<-chan patient.Answer
	for range waiters {
		client, wire := openCounted(t, zk)
		clients, wires = append(clients, client), append(wires, wire)
		rec := patient.Recorder(t, client)
		all := append([]locks.LockOption{patient.ObservedBy(rec), seen.of(t, client)}, opts...)
		waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), client.Mutex(path, all...).Lock))
		patient.Await(t, rec, messages.StateWatching)
	}
	countAll(t, zk, clients, wires, path)
	before, had := seen.wakes(), seen.count(messages.StateHeld)
	for i, next := range waiting {
		// All who are woken come to rest before the next release.
		resting := seen.count(messages.StateWatching)
		patient.GiveBack(t, holder)
		got := patient.Receive(t, next)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), holder.Token())
		holder = got.Lease
		seen.await(t, messages.StateHeld, had+i+1) // the observer may be behind the caller
		if len(opts) > 0 {
			seen.await(t, messages.StateWatching, resting+waiters-i-1)
		}
		for _, later := range waiting[i+1:] {
			require.Empty(t, later)
		}
	}
	patient.GiveBack(t, holder)
	events = countAll(t, zk, clients, wires, path)
	for _, client := range clients {
		require.Zero(t, client.Session().Counters().Polls)
	}
	return seen.wakes() - before, events
}

// TestHerd: the same queue, first with a watch on the predecessor and then with watches on the whole lock path.
// With n waiters a release wakes one of them, or all n.
func TestHerd(t *testing.T) {
	const waiters = 10
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		woken, events := drain(t, zk, "/one", waiters)
		herd, herdEvents := drain(t, zk, "/herd", waiters, locks.WithWatchAll())
		t.Logf("%d waiters: %d woken by %d events, each watching its predecessor; %d woken by %d events, each watching all",
			waiters, woken, events, herd, herdEvents)
		require.Equal(t, waiters, woken)
		// All n of them at the least, n(n+1)/2 in all, but for releases that come while one still lists.
		require.Greater(t, herd, 2*woken)
		require.Greater(t, herdEvents, 2*events)
	})
}
