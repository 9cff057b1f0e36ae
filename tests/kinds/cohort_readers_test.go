package kinds

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
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestThousandReadersAreOneNode: readers that wait behind a writer have one node, which the first
// has made. They hold together when the writer has gone, and keep the next writer out until the
// last of them has read.
func TestThousandReadersAreOneNode(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		const readers = 1000
		client, other, raw := at.Open(t), at.Open(t), at.Raw(t)
		first := patient.Locked(t, other.RWMutex("/crowd").Lock)
		crowd := client.RWMutex("/crowd", locks.WithCohort(readers))
		var waiting []<-chan patient.Answer
		for range readers {
			waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), crowd.RLock))
		}
		patient.AwaitWaiting(t, client, "/crowd", readers)
		require.Len(t, at.Children(t, raw, "/crowd"), 2, "the writer and the first reader")
		rec := patient.Recorder(t, other)
		second := patient.Elsewhere(patient.Deadline(t), other.RWMutex("/crowd", patient.ObservedBy(rec)).Lock)
		patient.Await(t, rec, messages.StateWatching)

		patient.GiveBack(t, first)
		var leases []*locks.Lease
		for _, next := range waiting {
			got := patient.Receive(t, next)
			require.NoError(t, got.Err)
			leases = append(leases, got.Lease)
		}
		require.Len(t, at.Children(t, raw, "/crowd"), 2, "the readers and the second writer")
		for _, lease := range leases {
			require.True(t, lease.Valid(), "all hold together")
			require.Equal(t, leases[0].Node(), lease.Node())
			require.Greater(t, lease.Token(), first.Token())
		}
		for _, lease := range leases[1:] {
			patient.GiveBack(t, lease)
		}
		patient.CatchUp(t, other)
		require.Empty(t, second, "one still reads")
		patient.GiveBack(t, leases[0])
		got := patient.Receive(t, second)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), leases[0].Token())
		patient.GiveBack(t, got.Lease)
		require.Zero(t, client.Session().Counters().Polls+other.Session().Counters().Polls)
		stories.AwaitNone(t, at, "/crowd")
	})
}

// TestWriterAmongReadersOfACohort: readers that come all the time, so that there is hardly a moment without one, let a
// writer of another client in within the grants that their node may serve, and none of them reads meanwhile.
func TestWriterAmongReadersOfACohort(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		const workers, grants = 8, 20
		busy, other := at.Open(t), at.Open(t)
		ctx, stop := context.WithCancel(patient.Deadline(t))
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
		patient.Eventually(t, func() bool { return granted.Load() > 2*grants }, "nobody reads")
		for range 20 {
			rec := patient.Recorder(t, other)
			got := patient.Elsewhere(patient.Deadline(t), other.RWMutex("/busy", patient.ObservedBy(rec)).Lock)
			patient.Eventually(t, func() bool { return len(rec.States()) > 1 }, "it never has its node")
			before := granted.Load()
			next := patient.Receive(t, got)
			require.NoError(t, next.Err)
			writing.Store(1)
			require.Zero(t, reading.Load(), "somebody reads")
			// The readers that the node may still serve, and readers that have the lock already and
			// are about to count themselves.
			require.LessOrEqual(t, granted.Load()-before, int64(grants+workers))
			writing.Store(0)
			patient.GiveBack(t, next.Lease)
		}
	})
}

// readersOf are so many that read with one node: they have waited for the same writer.
func readersOf(t *testing.T, client *locks.Client, path string, n int) (leases []*locks.Lease) {
	t.Helper()
	writer := patient.Locked(t, client.RWMutex(path).Lock)
	rw := client.RWMutex(path, locks.WithCohort(100))
	var waiting []<-chan patient.Answer
	for range n {
		waiting = append(waiting, patient.Elsewhere(patient.Deadline(t), rw.RLock))
	}
	patient.AwaitWaiting(t, client, path, n)
	patient.GiveBack(t, writer)
	for _, next := range waiting {
		got := patient.Receive(t, next)
		require.NoError(t, got.Err)
		leases = append(leases, got.Lease)
		require.Equal(t, leases[0].Node(), got.Lease.Node())
	}
	return leases
}

// TestReadersOfACohortAreBroken: an operator who deletes their node takes the lock from all of
// them, and a later reader makes another node.
func TestReadersOfACohortAreBroken(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, raw := at.Open(t), at.Raw(t)
		leases := readersOf(t, client, "/broken", 5)
		require.NoError(t, raw.Delete(at.Root()+"/broken/"+leases[0].Node(), -1))
		for _, lease := range leases {
			patient.AwaitLost(t, lease)
		}
		next := patient.Locked(t, client.RWMutex("/broken", locks.WithCohort(100)).RLock)
		require.NotEqual(t, leases[0].Node(), next.Node())
		require.Greater(t, next.Token(), leases[0].Token())
		patient.GiveBack(t, next)
		stories.AwaitNone(t, at, "/broken")
	})
}

// TestReadersOfACohortAreAsked for the lock, all of them, and a later reader waits behind the
// contender that wants it.
func TestReadersOfACohortAreAsked(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		leases := readersOf(t, client, "/asked", 5)
		writes := patient.Recorder(t, other)
		writer := patient.Elsewhere(patient.Deadline(t), other.RWMutex("/asked", patient.ObservedBy(writes)).Lock)
		patient.Await(t, writes, messages.StateWatching)
		_, err := other.Revoke(patient.Deadline(t), "/asked")
		require.NoError(t, err)
		for _, lease := range leases {
			patient.AwaitAsked(t, lease)
		}
		reader := patient.Elsewhere(patient.Deadline(t), client.RWMutex("/asked", locks.WithCohort(100)).RLock)
		patient.AwaitWaiting(t, client, "/asked", 1)
		for _, lease := range leases {
			patient.GiveBack(t, lease)
		}
		w := patient.Receive(t, writer)
		require.NoError(t, w.Err)
		patient.GiveBack(t, w.Lease)
		r := patient.Receive(t, reader)
		require.NoError(t, r.Err)
		patient.GiveBack(t, r.Lease)
		stories.AwaitNone(t, at, "/asked")
	})
}
