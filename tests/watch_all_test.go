package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// drain has a number of waiters queue one after the other, and lets them go in that order. It gives how many were
// woken, and how many watch events were sent, while the queue drained: each waiter is in a session of its own.
func drain(t *testing.T, zk *servers, path string, waiters int, opts ...locks.LockOption) (woken, events int) {
	t.Helper()
	holder, err := open(t, zk.Connect()).Mutex(path).Lock(deadline(t))
	require.NoError(t, err)
	seen := newTally()
	var clients []*locks.Client
	var wires []*wireEvents
	var waiting []<-chan answer
	for range waiters {
		client, wire := openCounted(t, zk)
		clients, wires = append(clients, client), append(wires, wire)
		rec := recorder(t, client)
		all := append([]locks.LockOption{observedBy(rec), seen.of(t, client)}, opts...)
		waiting = append(waiting, elsewhere(deadline(t), client.Mutex(path, all...).Lock))
		await(t, rec, messages.StateWatching)
	}
	countAll(t, zk, clients, wires, path)
	before := seen.wakes()
	for i, next := range waiting {
		// All who are woken come to rest before the next release.
		resting := seen.count(messages.StateWatching)
		require.NoError(t, holder.Unlock(deadline(t)))
		got := receive(t, next)
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), holder.Token())
		holder = got.lease
		if len(opts) > 0 {
			seen.await(t, messages.StateWatching, resting+waiters-i-1)
		}
		for _, later := range waiting[i+1:] {
			require.Empty(t, later)
		}
	}
	require.NoError(t, holder.Unlock(deadline(t)))
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
	eachServerAlone(t, func(t *testing.T, zk *servers) {
		woken, events := drain(t, zk, "/one", waiters)
		herd, herdEvents := drain(t, zk, "/herd", waiters, locks.WithWatchAll())
		t.Logf("%d waiters: %d woken by %d events, each watching its predecessor; %d woken by %d events, each watching all",
			waiters, woken, events, herd, herdEvents)
		require.Equal(t, waiters, woken)
		require.GreaterOrEqual(t, herd, waiters*(waiters+1)/2)
		require.Greater(t, herdEvents, 2*events)
	})
}

// TestWatchAllInEveryKind: it is another way to wait, and changes nothing in who holds.
func TestWatchAllInEveryKind(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		all := locks.WithWatchAll()
		w, err := one.RWMutex("/rw", all).Lock(deadline(t))
		require.NoError(t, err)
		crowded := behind(t, two, "/rw")
		r, err := w.Downgrade(deadline(t))
		require.NoError(t, err)
		rec := recorder(t, one)
		last := elsewhere(deadline(t), one.RWMutex("/rw", all, observedBy(rec)).Lock)
		await(t, rec, messages.StateWatching)
		require.NoError(t, r.Unlock(deadline(t)))
		crowded.requireTurn(t, r.Token())
		got := receive(t, last)
		require.NoError(t, got.err)
		require.NoError(t, got.lease.Unlock(deadline(t)))

		_, err = one.Semaphore("/s", 2, all).Acquire(deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrBadAcquire, "what the waiters of a semaphore watch is settled")
	})
}
