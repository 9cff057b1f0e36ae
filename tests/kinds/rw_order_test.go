package kinds

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReadersAndWritersInOrder: what came is served in the order of the queue: readers that stand together hold
// together, a writer alone, and nobody passes.
func TestReadersAndWritersInOrder(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t)}
		lock := func(i int, write bool, rec locks.LockOption) <-chan patient.Answer {
			rw := clients[i%2].RWMutex("/order", rec)
			if write {
				return patient.Elsewhere(patient.Deadline(t), rw.Lock)
			}
			return patient.Elsewhere(patient.Deadline(t), rw.RLock)
		}
		groups := []struct {
			writes bool
			many   int
		}{{false, 3}, {true, 1}, {false, 2}, {true, 1}, {true, 1}, {false, 1}}
		var queue [][]<-chan patient.Answer
		for n, group := range groups {
			var all []<-chan patient.Answer
			for i := range group.many {
				rec := patient.Recorder(t, clients[i%2])
				all = append(all, lock(i, group.writes, patient.ObservedBy(rec)))
				if n == 0 {
					patient.Await(t, rec, messages.StateHeld)
				} else {
					patient.Await(t, rec, messages.StateWatching)
				}
			}
			queue = append(queue, all)
		}
		last := messages.Token(0)
		for n, group := range queue {
			var leases []*locks.Lease
			for _, waiting := range group {
				got := patient.Receive(t, waiting)
				require.NoError(t, got.Err)
				require.Greater(t, got.Lease.Token(), last)
				leases = append(leases, got.Lease)
			}
			for i, lease := range leases {
				require.True(t, lease.Valid())
				for _, later := range queue[n+1:] {
					for _, waiting := range later {
						require.Empty(t, waiting, "came in before the %d before it had left", len(leases)-i)
					}
				}
				last = max(last, lease.Token())
				patient.GiveBack(t, lease)
			}
		}
		stories.AwaitNone(t, zk, "/order")
	})
}

// TestWriterAmongConstantReaders: readers that come all the time, and overlap, so that there is never a moment
// without one. A writer gets its turn each time nevertheless.
func TestWriterAmongConstantReaders(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		readers, writer := zk.Open(t), zk.Open(t)
		ctx, stop := context.WithCancel(patient.Deadline(t))
		var all sync.WaitGroup
		baton := make(chan *locks.Lease, 1) // the lease before is given back when the next is held
		first, err := readers.RWMutex("/starve").RLock(ctx)
		require.NoError(t, err)
		baton <- first
		for range 4 {
			all.Go(func() {
				for ctx.Err() == nil {
					rec := readers.RWMutex("/starve")
					var before *locks.Lease
					select {
					case before = <-baton:
					case <-ctx.Done():
						return
					}
					// Behind a writer that waits, the one before must go first; else they overlap.
					next, err := rec.TryRLock(ctx)
					if err != nil {
						assert.NoError(t, before.Unlock(context.WithoutCancel(ctx)))
						if next, err = rec.RLock(context.WithoutCancel(ctx)); !assert.NoError(t, err) {
							stop() // nobody has the baton now
							return
						}
						baton <- next
						continue
					}
					assert.NoError(t, before.Unlock(context.WithoutCancel(ctx)))
					baton <- next
				}
			})
		}
		for range 5 {
			lease := patient.Locked(t, writer.RWMutex("/starve").Lock)
			patient.GiveBack(t, lease)
		}
		stop()
		all.Wait()
		select {
		case last := <-baton:
			patient.GiveBack(t, last)
		default:
			require.True(t, t.Failed(), "a reader has failed")
		}
		stories.AwaitNone(t, zk, "/starve")
	})
}

// TestUpgradeIsRefused at once: it would wait for itself.
func TestUpgradeIsRefused(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for _, opts := range [][]locks.LockOption{nil, {locks.WithReentry()}} {
			rw := client.RWMutex("/upgrade", opts...)
			lease, err := rw.RLock(patient.Deadline(t))
			require.NoError(t, err)
			for _, lock := range []func(context.Context) (*locks.Lease, error){
				rw.Lock, rw.TryLock, client.Mutex("/upgrade", opts...).Lock,
			} {
				_, err = lock(lease.Context())
				require.ErrorIs(t, err, locks.ErrUpgrade)
			}
			require.Len(t, zk.Children(t, zk.Raw(t), "/upgrade"), 1)
			require.True(t, lease.Valid())
			patient.GiveBack(t, lease)
			w, err := rw.TryLock(lease.Context())
			require.ErrorIs(t, err, locks.ErrReleased, "its context is over")
			require.Nil(t, w)
			w, err = rw.Lock(context.WithoutCancel(lease.Context()))
			require.NoError(t, err, "within a lease that is given back it is a request like any other")
			patient.GiveBack(t, w)
		}
	})
}
