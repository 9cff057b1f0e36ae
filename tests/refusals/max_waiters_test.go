package refusals

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
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// locking is one way to acquire.
type locking = func(context.Context) (*locks.Lease, error)

// boundedKinds are the kinds of locks with a queue, each in a way that excludes the others, with a bound on waiters.
var boundedKinds = map[string]func(client *locks.Client, most int) locking{
	"mutex": func(c *locks.Client, most int) locking { return c.Mutex("/mutex", locks.WithMaxWaiters(most)).Lock },
	"writer": func(c *locks.Client, most int) locking {
		return c.RWMutex("/writer", locks.WithMaxWaiters(most)).Lock
	},
	"semaphore": func(c *locks.Client, most int) locking {
		return func(ctx context.Context) (*locks.Lease, error) {
			return c.Semaphore("/semaphore", 3, locks.WithMaxWaiters(most)).Acquire(ctx, 3)
		}
	},
}

// TestMaxWaiters: one holds and one waits. A request with a bound of two is refused, and leaves no
// node. One with a bound of three waits, and holds in its turn.
func TestMaxWaiters(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		first, second, third := zk.Open(t), zk.Open(t), zk.Open(t)
		for kind, lock := range boundedKinds {
			path := "/" + kind
			holds, err := lock(first, 1)(patient.Deadline(t))
			require.NoError(t, err, "behind nobody")
			waits := patient.Elsewhere(patient.Deadline(t), lock(second, 2))
			stories.AwaitCount(t, zk, path, 2)
			for _, client := range []*locks.Client{first, second, third} {
				_, err = lock(client, 2)(patient.Deadline(t))
				require.ErrorIs(t, err, locks.ErrQueueFull, kind)
				require.True(t, locks.MayPass(err))
				var of *locks.Error
				require.ErrorAs(t, err, &of)
				require.Equal(t, messages.ReasonQueueFull, of.Reason)
				require.Equal(t, "2, and it waits behind fewer than 2", of.Detail)
				require.Empty(t, of.Node)
				stories.AwaitCount(t, zk, path, 2) // it may have had a node, and others would count that
			}

			also := patient.Elsewhere(patient.Deadline(t), lock(third, 3))
			stories.AwaitCount(t, zk, path, 3)
			patient.GiveBack(t, holds)
			for _, got := range []<-chan patient.Answer{waits, also} {
				a := patient.Receive(t, got)
				require.NoError(t, a.Err, kind)
				patient.GiveBack(t, a.Lease)
			}
			stories.AwaitNone(t, zk, path)
		}
	})
}

// TestMaxWaitersOfThoseThatNeedNotWait: a reader beside readers, a permit that is free, a lease of the same hold, and a call
// that only tries.
func TestMaxWaitersOfThoseThatNeedNotWait(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		bound := locks.WithMaxWaiters(1)
		keep := func(lock locking) {
			lease, err := lock(patient.Deadline(t))
			require.NoError(t, err)
			t.Cleanup(func() { patient.GiveBack(t, lease) })
		}
		for range 2 {
			for _, c := range []*locks.Client{client, other} {
				keep(c.RWMutex("/rw", bound).RLock)
				keep(func(ctx context.Context) (*locks.Lease, error) { return c.Semaphore("/s", 4, bound).Acquire(ctx, 1) })
			}
		}
		_, err := other.RWMutex("/rw", bound).Lock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrQueueFull)
		_, err = other.Semaphore("/s", 4, bound).Acquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrQueueFull)

		reentrant := client.Mutex("/m", bound, locks.WithReentry())
		lease := patient.Locked(t, reentrant.Lock)
		again, err := reentrant.Lock(lease.Context())
		require.NoError(t, err)
		patient.GiveBack(t, again)
		_, err = other.Mutex("/m", bound).TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired, "it never waits")
		patient.GiveBack(t, lease)
	})
}

// TestMaxWaitersOfAnotherNumberOfPermits: a mistake in the request is told before the state of the
// queue. A request with an old number of permits hears that also where the queue is full, and leaves
// no node.
func TestMaxWaitersOfAnotherNumberOfPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		bound := locks.WithMaxWaiters(1)
		holds, err := client.Semaphore("/s", 2).Acquire(patient.Deadline(t), 2)
		require.NoError(t, err)
		require.NoError(t, client.SetPermits(patient.Deadline(t), "/s", 1))
		for name, c := range map[string]*locks.Client{"of the holder's session": client, "of another session": other} {
			_, err = c.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(patient.Deadline(t), 1)
			require.ErrorIs(t, err, locks.ErrPermits, name)
			require.NotErrorIs(t, err, locks.ErrQueueFull)
			require.ErrorContains(t, err, "/s has 1 permits, not 2")
			_, err = c.Semaphore("/s", 1, bound).Acquire(patient.Deadline(t), 1)
			require.ErrorIs(t, err, locks.ErrQueueFull, name)
		}
		patient.GiveBack(t, holds)
		_, err = other.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "where nobody is before it")
		stories.AwaitNone(t, zk, "/s")
	})
}

// TestMaxWaitersInside: a client's calls count that wait inside it, in line for a node or in a cohort. Of a crowd that asks at
// the same moment as many are let in as the bound says, and no more.
func TestMaxWaitersInside(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const most, crowd = 5, 40
		for name, opts := range map[string][]locks.LockOption{"line": nil, "cohort": {locks.WithCohort(100)}} {
			client, other := zk.Open(t, locks.WithMaxWaiting(1)), zk.Open(t)
			path := "/" + name
			mutex := client.Mutex(path, append(opts, locks.WithMaxWaiters(most))...)
			first := patient.Locked(t, mutex.Lock)
			var all sync.WaitGroup
			var mu sync.Mutex
			refused, held := 0, 0
			done := make(chan struct{}, crowd)
			for range crowd {
				all.Go(func() {
					lease, err := mutex.Lock(patient.Deadline(t))
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						held++
						assert.NoError(t, lease.Unlock(patient.Deadline(t)))
						return
					}
					assert.ErrorIs(t, err, locks.ErrQueueFull)
					refused++
					done <- struct{}{}
				})
			}
			for range crowd - (most - 1) {
				patient.Receive(t, done)
			}
			queue, err := other.Queue(patient.Deadline(t), path)
			require.NoError(t, err)
			require.Less(t, len(queue), most, "most wait inside")
			_, err = mutex.Lock(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrQueueFull)
			patient.GiveBack(t, first)
			all.Wait()
			require.Equal(t, most-1, held, name)
			require.Equal(t, crowd-held, refused, name)
			stories.AwaitNone(t, zk, path)
		}
	})
}

// TestMaxWaitersOnce: a request that was let in is not refused when it queues again, in another
// session, behind contenders that came meanwhile.
func TestMaxWaitersOnce(t *testing.T) {
	t.Parallel()
	server := embedded.Run(t)
	first, others, client := patient.Open(t, server.Addr()), patient.Open(t, server.Addr()), patient.Open(t, server.Addr())
	holds := patient.Locked(t, first.Mutex("/once").Lock)
	rec := patient.Recorder(t, client)
	waits := patient.Elsewhere(patient.Deadline(t), client.Mutex("/once", locks.WithMaxWaiters(2), locks.WithObserver(rec.PID())).Lock)
	patient.Await(t, rec, messages.StateWatching)
	var came []<-chan patient.Answer
	for range 3 {
		came = append(came, patient.Elsewhere(patient.Deadline(t), others.Mutex("/once").Lock))
	}
	patient.Eventually(t, func() bool {
		queue, err := first.Queue(patient.Deadline(t), "/once")
		return err == nil && len(queue) == 5
	}, "the others queue")
	require.NoError(t, server.Expire(client.Session().ID()))
	_, err := rec.AwaitNth(patient.Deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)
	patient.GiveBack(t, holds)
	var all sync.WaitGroup
	for _, got := range append(came, waits) { // in the order in which they queue, which nobody knows
		all.Go(func() {
			if a := <-got; assert.NoError(t, a.Err) {
				assert.NoError(t, a.Lease.Unlock(patient.Deadline(t)))
			}
		})
	}
	all.Wait()
}
