package refusals

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Package turns has the stories of calls that wait inside a client (bound.txt).

// locking is one way to acquire.
type locking = func(context.Context) (*locks.Lease, error)

// TestMaxWaiters: one holds and one waits, in each kind of lock with a queue. A request with a bound of two is refused, and
// leaves no node. One with a bound of three waits, and holds in its turn.
func TestMaxWaiters(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t), zk.Open(t)}
		for kind, lock := range map[string]func(c *locks.Client, bound locks.LockOption) locking{
			"mutex":  func(c *locks.Client, bound locks.LockOption) locking { return c.Mutex("/mutex", bound).Lock },
			"writer": func(c *locks.Client, bound locks.LockOption) locking { return c.RWMutex("/writer", bound).Lock },
			"semaphore": func(c *locks.Client, bound locks.LockOption) locking {
				return c.Semaphore("/semaphore", 3, bound).Weight(3).Lock
			},
		} {
			path := "/" + kind
			holds := scene.Locked(t, lock(clients[0], locks.WithMaxWaiters(1)))
			waits := scene.Elsewhere(scene.Deadline(t), lock(clients[1], locks.WithMaxWaiters(2)))
			scene.AwaitCount(t, zk, path, 2)
			for _, client := range clients {
				_, err := lock(client, locks.WithMaxWaiters(2))(scene.Deadline(t))
				require.ErrorIs(t, err, locks.ErrQueueFull, kind)
				require.True(t, locks.MayPass(err))
				var of *locks.Error
				require.ErrorAs(t, err, &of)
				require.Equal(t, messages.ReasonQueueFull, of.Reason)
				require.Equal(t, "2, and it waits behind fewer than 2", of.Detail)
				require.Empty(t, of.Node)
				scene.AwaitCount(t, zk, path, 2) // it may have had a node, and others would count that
			}
			also := scene.Elsewhere(scene.Deadline(t), lock(clients[2], locks.WithMaxWaiters(3)))
			scene.AwaitCount(t, zk, path, 3)
			scene.GiveBack(t, holds)
			for _, got := range []<-chan scene.Answer{waits, also} {
				a := scene.Receive(t, got)
				require.NoError(t, a.Err, kind)
				scene.GiveBack(t, a.Lease)
			}
			scene.AwaitNone(t, zk, path)
		}
	})
}

// inBubble tells a story of two clients, behind which nobody is left at some lock paths.
func inBubble(t *testing.T, story func(t *testing.T, server *embedded.Server, client, other *locks.Client), paths ...string) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		story(t, server, client, other)
		for _, path := range paths {
			for _, c := range []*locks.Client{client, other} {
				scene.GiveBack(t, scene.Locked(t, c.Mutex(path, locks.WithMaxWaiters(1)).Lock))
			}
		}
	})
}

// TestMaxWaitersOfThoseThatNeedNotWait: a reader beside readers, a permit that is free, a lease of the same hold, and a call
// that only tries.
func TestMaxWaitersOfThoseThatNeedNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		bound := locks.WithMaxWaiters(1)
		for range 2 {
			for _, c := range []*locks.Client{client, other} {
				scene.Locked(t, c.RWMutex("/rw", bound).RLock)
				scene.Locked(t, c.Semaphore("/s", 4, bound).Weight(1).Lock)
			}
		}
		for _, lock := range []locking{other.RWMutex("/rw", bound).Lock, other.Semaphore("/s", 4, bound).Weight(1).Lock} {
			_, err := lock(t.Context())
			require.ErrorIs(t, err, locks.ErrQueueFull)
		}
		reentrant := client.Mutex("/m", bound, locks.WithReentry())
		lease := scene.Locked(t, reentrant.Lock)
		again, err := reentrant.Lock(lease.Context())
		require.NoError(t, err)
		scene.GiveBack(t, again)
		_, err = other.Mutex("/m", bound).TryLock(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "it never waits")
		scene.GiveBack(t, lease)
	}, "/m")
}

// TestMaxWaitersOfAnotherNumberOfPermits: a mistake in the request is told before the state of the queue. A request with an
// old number of permits hears that also where the queue is full, and leaves no node.
func TestMaxWaitersOfAnotherNumberOfPermits(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		bound := locks.WithMaxWaiters(1)
		holds := scene.Locked(t, client.Semaphore("/s", 2).Weight(2).Lock)
		require.NoError(t, client.SetPermits(t.Context(), "/s", 1))
		for _, c := range []*locks.Client{client, other} {
			_, err := c.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(t.Context(), 1)
			require.ErrorIs(t, err, locks.ErrPermits)
			require.NotErrorIs(t, err, locks.ErrQueueFull)
			require.ErrorContains(t, err, "/s has 1 permits, not 2")
			_, err = c.Semaphore("/s", 1, bound).Acquire(t.Context(), 1)
			require.ErrorIs(t, err, locks.ErrQueueFull)
		}
		scene.GiveBack(t, holds)
		_, err := other.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(t.Context(), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "where nobody is before it")
	}, "/s")
}

// TestMaxWaitersTogether: of clients that ask at the same moment, the one whose node came first is let in, and the other
// is refused: the bound is exact between clients.
func TestMaxWaitersTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		holds := scene.Locked(t, other.Mutex("/m").Lock)
		var all []<-chan scene.Answer
		for _, c := range []*locks.Client{client, other} {
			all = append(all, scene.Elsewhere(t.Context(), c.Mutex("/m", locks.WithMaxWaiters(2)).Lock))
		}
		synctest.Wait()
		let, refused := all[0], all[1]
		if len(let) > 0 {
			let, refused = refused, let
		}
		require.ErrorIs(t, scene.Receive(t, refused).Err, locks.ErrQueueFull)
		require.Empty(t, let)
		scene.GiveBack(t, holds)
		a := scene.Receive(t, let)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease)
	}, "/m")
}

// TestMaxWaitersAsTheOneBeforeLeaves: the one before gives back while a client looks. The queue at the time of the
// look counts, and the next look finds room. Of its own client's nodes a client knows better, and its calls keep their order.
func TestMaxWaitersAsTheOneBeforeLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
		bounded := client.Mutex("/m", locks.WithMaxWaiters(1))
		looks := func() *embedded.Injection { // the next look of the client, which is answered when that is released
			look, err := server.Inject(embedded.Fault{Session: client.Session().ID(), Op: embedded.OpGetChildren2, Path: "/m",
				Action: embedded.HoldReplies})
			require.NoError(t, err)
			return look
		}
		holds, look := scene.Locked(t, other.Mutex("/m").Lock), looks()
		got := scene.Elsewhere(t.Context(), bounded.Lock)
		require.NoError(t, look.Wait(t.Context()))
		scene.GiveBack(t, holds)
		look.Release()
		require.ErrorIs(t, scene.Receive(t, got).Err, locks.ErrQueueFull)
		scene.GiveBack(t, scene.Locked(t, bounded.Lock))

		holds, look = scene.Locked(t, client.Mutex("/m").Lock), looks()
		second := scene.Elsewhere(t.Context(), client.Mutex("/m", locks.WithMaxWaiters(2)).Lock)
		require.NoError(t, look.Wait(t.Context()))
		holds.Release()
		synctest.Wait()
		got = scene.Elsewhere(t.Context(), bounded.Lock)
		synctest.Wait()
		look.Release()
		a := scene.Receive(t, second)
		require.NoError(t, a.Err)
		require.ErrorIs(t, scene.Receive(t, got).Err, locks.ErrQueueFull, "the second was let in before it")
		scene.GiveBack(t, a.Lease)
	}, "/m")
}

// TestMaxWaitersOnce: a request that was let in is not refused when it queues again, in another session, behind contenders
// that came meanwhile.
func TestMaxWaitersOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
		holds := scene.Locked(t, other.Mutex("/m").Lock)
		all := []<-chan scene.Answer{scene.Elsewhere(t.Context(), client.Mutex("/m", locks.WithMaxWaiters(2)).Lock)}
		synctest.Wait()
		for range 3 {
			all = append(all, scene.Elsewhere(t.Context(), other.Mutex("/m").Lock))
			time.Sleep(time.Second)
		}
		require.NoError(t, server.Expire(client.Session().ID()))
		time.Sleep(time.Minute)
		require.Len(t, scene.QueueOf(t, other, "/m"), 5)
		scene.GiveBack(t, holds)
		for _, i := range []int{1, 2, 3, 0} {
			a := scene.Receive(t, all[i])
			require.NoError(t, a.Err)
			scene.GiveBack(t, a.Lease)
		}
	}, "/m")
}

// TestMaxWaitersOfSeveral: one of several locks has a bound. All is refused, and has given back what it held.
func TestMaxWaitersOfSeveral(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		several := func(most int) (*locks.Leases, error) {
			return locks.All(t.Context(), client.Mutex("/c"), client.Mutex("/b", locks.WithMaxWaiters(most)),
				client.Semaphore("/d", 1, locks.WithMaxWaiters(1)).Weight(1))
		}
		holds, permits := scene.Locked(t, other.Mutex("/b").Lock), scene.Locked(t, other.Semaphore("/d", 1).Weight(1).Lock)
		_, err := several(1)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.True(t, locks.MayPass(err))
		got := make(chan error, 1)
		go func() {
			_, err := several(2)
			got <- err
		}()
		synctest.Wait()
		require.Len(t, scene.QueueOf(t, other, "/b"), 2, "behind one it waits")
		scene.GiveBack(t, holds)
		require.ErrorIs(t, scene.Receive(t, got), locks.ErrQueueFull, "the last of them is full")
		scene.GiveBack(t, permits)
		leases, err := several(1)
		require.NoError(t, err)
		require.NoError(t, leases.Unlock(t.Context()))
	}, "/b", "/c")
}

// TestMaxWaitersOfADowngrade: a writer becomes a reader whatever waits behind it. Its owner's call for reading while it is
// still to become the writer is one that has to wait.
func TestMaxWaitersOfADowngrade(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		rw := client.RWMutex("/rw", locks.WithMaxWaiters(1))
		writes := scene.Locked(t, rw.Lock)
		waits := scene.Elsewhere(t.Context(), other.RWMutex("/rw").Lock)
		synctest.Wait()
		reads := scene.Locked(t, writes.Downgrade)
		_, err := rw.RLock(t.Context())
		require.ErrorIs(t, err, locks.ErrQueueFull, "a writer waits before another reader")
		scene.GiveBack(t, reads)
		a := scene.Receive(t, waits)
		require.NoError(t, a.Err)
		scene.GiveBack(t, a.Lease)
	}, "/rw")
}

// TestMaxWaitersOfAnElection: a candidate with a bound is refused where others stand. Run tries again, and leads.
func TestMaxWaitersOfAnElection(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		leader, err := other.Election("/e").Campaign(t.Context(), "other")
		require.NoError(t, err)
		stands := client.Election("/e", locks.WithMaxWaiters(1))
		_, err = stands.Campaign(t.Context(), "client")
		require.ErrorIs(t, err, locks.ErrQueueFull)
		over := make(chan error, 1)
		go func() {
			over <- stands.Run(t.Context(), "client", func(context.Context, *locks.Leadership) error { return nil })
		}()
		time.Sleep(time.Minute)
		require.Len(t, scene.QueueOf(t, other, "/e"), 1, "it is refused, again and again")
		require.NoError(t, leader.Resign(t.Context()))
		require.NoError(t, scene.Receive(t, over))
	}, "/e")
}

// TestMaxWaitersOfAJob: a job that waits for its turn, with a bound, is not called, and says why.
func TestMaxWaitersOfAJob(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		holds, calls := scene.Locked(t, other.Mutex("/job").Lock), 0
		run := func() (locks.Once, error) {
			return locks.RunOnce(t.Context(), client, "/job", time.Hour, func(context.Context, locks.Token) error { calls++; return nil },
				locks.WithWaiting(), locks.WithMaxWaiters(1))
		}
		once, err := run()
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.Empty(t, once.Outcome)
		require.Zero(t, calls)
		scene.GiveBack(t, holds)
		once, err = run()
		require.NoError(t, err)
		require.Equal(t, locks.OnceRan, once.Outcome)
	})
}
