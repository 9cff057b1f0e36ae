package tests

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestThousandReadersAreOneNode: those that wait behind a writer have none but that of the first, hold together when the
// writer has gone, and keep the next writer out until the last of them has read.
func TestThousandReadersAreOneNode(t *testing.T) {
	eachServerAlone(t, func(t *testing.T, at *servers) {
		const readers = 1000
		client, other, raw := open(t, at.Connect()), open(t, at.Connect()), at.Raw(t)
		first, err := other.RWMutex("/crowd").Lock(deadline(t))
		require.NoError(t, err)
		seen := newTally()
		crowd := client.RWMutex("/crowd", locks.WithCohort(readers), seen.of(t, client))
		var waiting []<-chan answer
		for range readers {
			waiting = append(waiting, elsewhere(deadline(t), crowd.RLock))
		}
		seen.await(t, messages.StateWatching, readers)
		require.Len(t, at.Children(t, raw, "/crowd"), 2, "the writer and the first reader")
		rec := recorder(t, other)
		second := elsewhere(deadline(t), other.RWMutex("/crowd", observedBy(rec)).Lock)
		await(t, rec, messages.StateWatching)

		require.NoError(t, first.Unlock(deadline(t)))
		var leases []*locks.Lease
		for _, next := range waiting {
			got := receive(t, next)
			require.NoError(t, got.err)
			leases = append(leases, got.lease)
		}
		require.Len(t, at.Children(t, raw, "/crowd"), 2, "the readers and the second writer")
		for _, lease := range leases {
			require.True(t, lease.Valid(), "all hold together")
			require.Equal(t, leases[0].Node(), lease.Node())
			require.Greater(t, lease.Token(), first.Token())
		}
		for _, lease := range leases[1:] {
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		settle(t, other)
		require.Empty(t, second, "one still reads")
		require.NoError(t, leases[0].Unlock(deadline(t)))
		got := receive(t, second)
		require.NoError(t, got.err)
		require.Greater(t, got.lease.Token(), leases[0].Token())
		require.NoError(t, got.lease.Unlock(deadline(t)))
		require.Zero(t, client.Session().Counters().Polls+other.Session().Counters().Polls)
		awaitNone(t, at, "/crowd")
	})
}

// TestWriterAmongReadersOfACohort: readers that come all the time, so that there is hardly a moment without one, let a
// writer of another client in within the grants that their node may serve, and none of them reads meanwhile.
func TestWriterAmongReadersOfACohort(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		const workers, grants = 8, 20
		busy, other := open(t, at.Connect()), open(t, at.Connect())
		ctx, stop := context.WithCancel(deadline(t))
		var granted, reading, writing atomic.Int64
		var working sync.WaitGroup
		for range workers {
			working.Go(func() {
				for ctx.Err() == nil {
					lease, err := busy.RWMutex("/busy", locks.WithCohort(grants)).RLock(ctx)
					if err != nil {
						return
					}
					granted.Add(1)
					reading.Add(1)
					time.Sleep(time.Millisecond)
					assert.Zero(t, writing.Load(), "somebody writes")
					reading.Add(-1)
					_ = lease.Unlock(context.WithoutCancel(ctx))
				}
			})
		}
		defer working.Wait()
		defer stop()
		eventually(t, func() bool { return granted.Load() > 2*grants }, "nobody reads")
		for range 20 {
			rec := recorder(t, other)
			got := elsewhere(deadline(t), other.RWMutex("/busy", observedBy(rec)).Lock)
			eventually(t, func() bool { return len(rec.States()) > 1 }, "it never has its node")
			before := granted.Load()
			next := receive(t, got)
			require.NoError(t, next.err)
			writing.Store(1)
			require.Zero(t, reading.Load(), "somebody reads")
			// Those that the node at hand may serve; and others that have the lock already, and are about to say so.
			require.LessOrEqual(t, granted.Load()-before, int64(grants+workers))
			writing.Store(0)
			require.NoError(t, next.lease.Unlock(deadline(t)))
		}
	})
}

// TestReadersAndWritersOfCohorts: many readers and writers of two clients, some of whom give up. Nobody writes beside
// another, and nothing is left.
func TestReadersAndWritersOfCohorts(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		const workers, rounds = 8, 30
		clients := []*locks.Client{open(t, at.Connect()), open(t, at.Connect())}
		var reading, writing atomic.Int64
		var together atomic.Int64 // the most that have read at a time
		var working sync.WaitGroup
		for worker := range workers {
			rw := clients[worker%2].RWMutex("/mixed", locks.WithCohort(6))
			working.Go(func() {
				for round := range rounds {
					ctx, giveUp := context.WithCancel(deadline(t))
					if (worker+round)%7 == 0 {
						go giveUp()
					}
					if (worker+round)%5 == 0 {
						if lease, err := rw.Lock(ctx); err == nil {
							assert.EqualValues(t, 1, writing.Add(1), "writers at a time")
							assert.Zero(t, reading.Load(), "somebody reads beside a writer")
							writing.Add(-1)
							assert.NoError(t, lease.Unlock(deadline(t)))
						}
					} else if lease, err := rw.RLock(ctx); err == nil {
						together.Store(max(together.Load(), reading.Add(1)))
						time.Sleep(time.Millisecond)
						assert.Zero(t, writing.Load(), "somebody writes beside a reader")
						reading.Add(-1)
						assert.NoError(t, lease.Unlock(deadline(t)))
					}
					giveUp()
				}
			})
		}
		working.Wait()
		t.Logf("at most %d read at a time", together.Load())
		awaitNone(t, at, "/mixed")
	})
}

// TestReaderBehindAWriterOfItsClient: readers that come after a writer of their own client do not join those before it.
func TestReaderBehindAWriterOfItsClient(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client := open(t, at.Connect())
		rw := client.RWMutex("/order", locks.WithCohort(100))
		first, err := rw.RLock(deadline(t))
		require.NoError(t, err)
		second, err := rw.TryRLock(deadline(t))
		require.NoError(t, err, "nobody writes")
		writes, reads := recorder(t, client), recorder(t, client)
		writer := elsewhere(deadline(t), client.RWMutex("/order", locks.WithCohort(100), observedBy(writes)).Lock)
		await(t, writes, messages.StateWatching)
		reader := elsewhere(deadline(t), client.RWMutex("/order", locks.WithCohort(100), observedBy(reads)).RLock)
		await(t, reads, messages.StateWatching)
		_, err = rw.TryRLock(deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, first.Unlock(deadline(t)))
		settle(t, client)
		require.Empty(t, writer)
		require.NoError(t, second.Unlock(deadline(t)))
		w := receive(t, writer)
		require.NoError(t, w.err)
		settle(t, client)
		require.Empty(t, reader)
		require.NoError(t, w.lease.Unlock(deadline(t)))
		r := receive(t, reader)
		require.NoError(t, r.err)
		require.Greater(t, r.lease.Token(), w.lease.Token())
		require.NoError(t, r.lease.Unlock(deadline(t)))
		awaitNone(t, at, "/order")
	})
}

// readersOf are so many that read with one node: they have waited for the same writer.
func readersOf(t *testing.T, client *locks.Client, path string, n int) (leases []*locks.Lease) {
	t.Helper()
	writer, err := client.RWMutex(path).Lock(deadline(t))
	require.NoError(t, err)
	seen := newTally()
	rw := client.RWMutex(path, locks.WithCohort(100), seen.of(t, client))
	var waiting []<-chan answer
	for range n {
		waiting = append(waiting, elsewhere(deadline(t), rw.RLock))
	}
	seen.await(t, messages.StateWatching, n)
	require.NoError(t, writer.Unlock(deadline(t)))
	for _, next := range waiting {
		got := receive(t, next)
		require.NoError(t, got.err)
		leases = append(leases, got.lease)
		require.Equal(t, leases[0].Node(), got.lease.Node())
	}
	return leases
}

// TestReadersOfACohortAreBroken: an operator who deletes their node takes the lock from all of them, and who comes then
// has a node of its own.
func TestReadersOfACohortAreBroken(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, raw := open(t, at.Connect()), at.Raw(t)
		leases := readersOf(t, client, "/broken", 5)
		require.NoError(t, raw.Delete(at.Root()+"/broken/"+leases[0].Node(), -1))
		for _, lease := range leases {
			awaitLost(t, lease)
		}
		next, err := client.RWMutex("/broken", locks.WithCohort(100)).RLock(deadline(t))
		require.NoError(t, err)
		require.NotEqual(t, leases[0].Node(), next.Node())
		require.Greater(t, next.Token(), leases[0].Token())
		require.NoError(t, next.Unlock(deadline(t)))
		awaitNone(t, at, "/broken")
	})
}

// TestReadersOfACohortAreAsked for the lock, all of them, and whoever comes then waits behind the one who wants it.
func TestReadersOfACohortAreAsked(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		client, other := open(t, at.Connect()), open(t, at.Connect())
		leases := readersOf(t, client, "/asked", 5)
		writes, reads := recorder(t, other), recorder(t, client)
		writer := elsewhere(deadline(t), other.RWMutex("/asked", observedBy(writes)).Lock)
		await(t, writes, messages.StateWatching)
		_, err := other.Revoke(deadline(t), "/asked")
		require.NoError(t, err)
		for _, lease := range leases {
			awaitAsked(t, lease)
		}
		reader := elsewhere(deadline(t), client.RWMutex("/asked", locks.WithCohort(100), observedBy(reads)).RLock)
		await(t, reads, messages.StateWatching)
		for _, lease := range leases {
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		w := receive(t, writer)
		require.NoError(t, w.err)
		require.NoError(t, w.lease.Unlock(deadline(t)))
		r := receive(t, reader)
		require.NoError(t, r.err)
		require.NoError(t, r.lease.Unlock(deadline(t)))
		awaitNone(t, at, "/asked")
	})
}
