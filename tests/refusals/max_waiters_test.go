package refusals

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Package turns has the stories of calls that wait inside a client (bound.txt).

// locking is one way to acquire.
type locking = func(context.Context) (*locks.Lease, error)

// TestMaxWaiters: one holds and one waits, in each kind of lock with a queue. A request with a bound of two is refused, and
// leaves no node. One with a bound of three waits, and holds in its turn.
func TestMaxWaiters(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t), zk.Open(t)}
		for kind, lock := range map[string]func(c *locks.Client, bound locks.LockOption) locking{
			"mutex":  func(c *locks.Client, bound locks.LockOption) locking { return c.Mutex("/mutex", bound).Lock },
			"writer": func(c *locks.Client, bound locks.LockOption) locking { return c.RWMutex("/writer", bound).Lock },
			"semaphore": func(c *locks.Client, bound locks.LockOption) locking {
				return c.Semaphore("/semaphore", 3, bound).Weight(3).Lock
			},
		} {
			path := "/" + kind
			holds := patient.Locked(t, lock(clients[0], locks.WithMaxWaiters(1)))
			waits := patient.Elsewhere(patient.Deadline(t), lock(clients[1], locks.WithMaxWaiters(2)))
			stories.AwaitCount(t, zk, path, 2)
			for _, client := range clients {
				_, err := lock(client, locks.WithMaxWaiters(2))(patient.Deadline(t))
				require.ErrorIs(t, err, locks.ErrQueueFull, kind)
				require.True(t, locks.MayPass(err))
				var of *locks.Error
				require.ErrorAs(t, err, &of)
				require.Equal(t, messages.ReasonQueueFull, of.Reason)
				require.Equal(t, "2, and it waits behind fewer than 2", of.Detail)
				require.Empty(t, of.Node)
				stories.AwaitCount(t, zk, path, 2) // it may have had a node, and others would count that
			}
			also := patient.Elsewhere(patient.Deadline(t), lock(clients[2], locks.WithMaxWaiters(3)))
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

// inBubble tells a story of two clients, behind which nobody is left at some lock paths.
func inBubble(t *testing.T, story func(t *testing.T, server *embedded.Server, client, other *locks.Client), paths ...string) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		story(t, server, client, other)
		for _, path := range paths {
			for _, c := range []*locks.Client{client, other} {
				bubble.GiveBack(t, bubble.Locked(t, c.Mutex(path, locks.WithMaxWaiters(1)).Lock))
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
				bubble.Locked(t, c.RWMutex("/rw", bound).RLock)
				bubble.Locked(t, c.Semaphore("/s", 4, bound).Weight(1).Lock)
			}
		}
		for _, lock := range []locking{other.RWMutex("/rw", bound).Lock, other.Semaphore("/s", 4, bound).Weight(1).Lock} {
			_, err := lock(t.Context())
			require.ErrorIs(t, err, locks.ErrQueueFull)
		}
		reentrant := client.Mutex("/m", bound, locks.WithReentry())
		lease := bubble.Locked(t, reentrant.Lock)
		again, err := reentrant.Lock(lease.Context())
		require.NoError(t, err)
		bubble.GiveBack(t, again)
		_, err = other.Mutex("/m", bound).TryLock(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "it never waits")
		bubble.GiveBack(t, lease)
	}, "/m")
}

// TestMaxWaitersOfAnotherNumberOfPermits: a mistake in the request is told before the state of the queue. A request with an
// old number of permits hears that also where the queue is full, and leaves no node.
func TestMaxWaitersOfAnotherNumberOfPermits(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		bound := locks.WithMaxWaiters(1)
		holds := bubble.Locked(t, client.Semaphore("/s", 2).Weight(2).Lock)
		require.NoError(t, client.SetPermits(t.Context(), "/s", 1))
		for _, c := range []*locks.Client{client, other} {
			_, err := c.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(t.Context(), 1)
			require.ErrorIs(t, err, locks.ErrPermits)
			require.NotErrorIs(t, err, locks.ErrQueueFull)
			require.ErrorContains(t, err, "/s has 1 permits, not 2")
			_, err = c.Semaphore("/s", 1, bound).Acquire(t.Context(), 1)
			require.ErrorIs(t, err, locks.ErrQueueFull)
		}
		bubble.GiveBack(t, holds)
		_, err := other.Semaphore("/s", 2, bound, locks.WithExactPermits()).Acquire(t.Context(), 1)
		require.ErrorIs(t, err, locks.ErrPermits, "where nobody is before it")
	}, "/s")
}

// TestMaxWaitersTogether: of clients that ask at the same moment, the one whose node came first is let in, and the other
// is refused: the bound is exact between clients.
func TestMaxWaitersTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		holds := bubble.Locked(t, other.Mutex("/m").Lock)
		var all []<-chan patient.Answer
		for _, c := range []*locks.Client{client, other} {
			all = append(all, patient.Elsewhere(t.Context(), c.Mutex("/m", locks.WithMaxWaiters(2)).Lock))
		}
		synctest.Wait()
		let, refused := all[0], all[1]
		if len(let) > 0 {
			let, refused = refused, let
		}
		require.ErrorIs(t, patient.Receive(t, refused).Err, locks.ErrQueueFull)
		require.Empty(t, let)
		bubble.GiveBack(t, holds)
		a := patient.Receive(t, let)
		require.NoError(t, a.Err)
		bubble.GiveBack(t, a.Lease)
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
		holds, look := bubble.Locked(t, other.Mutex("/m").Lock), looks()
		got := patient.Elsewhere(t.Context(), bounded.Lock)
		require.NoError(t, look.Wait(t.Context()))
		bubble.GiveBack(t, holds)
		look.Release()
		require.ErrorIs(t, patient.Receive(t, got).Err, locks.ErrQueueFull)
		bubble.GiveBack(t, bubble.Locked(t, bounded.Lock))

		holds, look = bubble.Locked(t, client.Mutex("/m").Lock), looks()
		second := patient.Elsewhere(t.Context(), client.Mutex("/m", locks.WithMaxWaiters(2)).Lock)
		require.NoError(t, look.Wait(t.Context()))
		holds.Release()
		synctest.Wait()
		got = patient.Elsewhere(t.Context(), bounded.Lock)
		synctest.Wait()
		look.Release()
		a := patient.Receive(t, second)
		require.NoError(t, a.Err)
		require.ErrorIs(t, patient.Receive(t, got).Err, locks.ErrQueueFull, "the second was let in before it")
		bubble.GiveBack(t, a.Lease)
	}, "/m")
}

// TestMaxWaitersOnce: a request that was let in is not refused when it queues again, in another session, behind contenders
// that came meanwhile.
func TestMaxWaitersOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, other *locks.Client) {
		holds := bubble.Locked(t, other.Mutex("/m").Lock)
		all := []<-chan patient.Answer{patient.Elsewhere(t.Context(), client.Mutex("/m", locks.WithMaxWaiters(2)).Lock)}
		synctest.Wait()
		for range 3 {
			all = append(all, patient.Elsewhere(t.Context(), other.Mutex("/m").Lock))
			time.Sleep(time.Second)
		}
		require.NoError(t, server.Expire(client.Session().ID()))
		time.Sleep(time.Minute)
		require.Len(t, patient.QueueOf(t, other, "/m"), 5)
		bubble.GiveBack(t, holds)
		for _, i := range []int{1, 2, 3, 0} {
			a := patient.Receive(t, all[i])
			require.NoError(t, a.Err)
			bubble.GiveBack(t, a.Lease)
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
		holds, permits := bubble.Locked(t, other.Mutex("/b").Lock), bubble.Locked(t, other.Semaphore("/d", 1).Weight(1).Lock)
		_, err := several(1)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.True(t, locks.MayPass(err))
		got := make(chan error, 1)
		go func() {
			_, err := several(2)
			got <- err
		}()
		synctest.Wait()
		require.Len(t, patient.QueueOf(t, other, "/b"), 2, "behind one it waits")
		bubble.GiveBack(t, holds)
		require.ErrorIs(t, patient.Receive(t, got), locks.ErrQueueFull, "the last of them is full")
		bubble.GiveBack(t, permits)
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
		writes := bubble.Locked(t, rw.Lock)
		waits := patient.Elsewhere(t.Context(), other.RWMutex("/rw").Lock)
		synctest.Wait()
		reads := bubble.Locked(t, writes.Downgrade)
		_, err := rw.RLock(t.Context())
		require.ErrorIs(t, err, locks.ErrQueueFull, "a writer waits before another reader")
		bubble.GiveBack(t, reads)
		a := patient.Receive(t, waits)
		require.NoError(t, a.Err)
		bubble.GiveBack(t, a.Lease)
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
		require.Len(t, patient.QueueOf(t, other, "/e"), 1, "it is refused, again and again")
		require.NoError(t, leader.Resign(t.Context()))
		require.NoError(t, patient.Receive(t, over))
	}, "/e")
}

// TestMaxWaitersOfAJob: a job that waits for its turn, with a bound, is not called, and says why.
func TestMaxWaitersOfAJob(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		holds, calls := bubble.Locked(t, other.Mutex("/job").Lock), 0
		run := func() (locks.Once, error) {
			return locks.RunOnce(t.Context(), client, "/job", time.Hour, func(context.Context, locks.Token) error { calls++; return nil },
				locks.WithWaiting(), locks.WithMaxWaiters(1))
		}
		once, err := run()
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.Empty(t, once.Outcome)
		require.Zero(t, calls)
		bubble.GiveBack(t, holds)
		once, err = run()
		require.NoError(t, err)
		require.Equal(t, locks.OnceRan, once.Outcome)
	})
}
