package refusals

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// beside is two clients in a bubble, and what they do beside a bound on waiters.
type beside struct {
	server        *embedded.Server
	client, other *locks.Client
}

// inBubble runs a story of two clients.
func inBubble(t *testing.T, story func(t *testing.T, b *beside)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		open := func() *locks.Client { return bubble.Client(t, server) }
		story(t, &beside{server: server, client: open(), other: open()})
	})
}

// look has the next look of a client at a lock path answered when the injection is released.
func (b *beside) look(t *testing.T, client *locks.Client, path string) *embedded.Injection {
	t.Helper()
	looks, err := b.server.Inject(embedded.Fault{Session: client.Session().ID(), Op: embedded.OpGetChildren2, Path: path,
		Action: embedded.HoldReplies})
	require.NoError(t, err)
	return looks
}

// requireFree: nobody is left at a lock path, for any client.
func (b *beside) requireFree(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		for _, c := range []*locks.Client{b.client, b.other} {
			patient.GiveBack(t, patient.Locked(t, c.Mutex(path, locks.WithMaxWaiters(1)).Lock))
		}
	}
}

// TestMaxWaitersTogether: of clients that ask at the same moment, the one whose node came first is let in, and the other
// is refused: the bound is exact between clients.
func TestMaxWaitersTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		holds := patient.Locked(t, b.other.Mutex("/m").Lock)
		var all []<-chan patient.Answer
		for _, c := range []*locks.Client{b.client, b.other} {
			all = append(all, patient.Elsewhere(patient.Deadline(t), c.Mutex("/m", locks.WithMaxWaiters(2)).Lock))
		}
		synctest.Wait()
		let, refused := all[0], all[1]
		if len(let) > 0 {
			let, refused = refused, let
		}
		require.ErrorIs(t, patient.Receive(t, refused).Err, locks.ErrQueueFull)
		require.Empty(t, let)
		for _, c := range []*locks.Client{b.client, b.other} {
			_, err := c.Mutex("/m", locks.WithMaxWaiters(1)).TryLock(patient.Deadline(t))
			require.ErrorIs(t, err, locks.ErrNotAcquired, "a call that only tries is not refused for the bound")
		}
		patient.GiveBack(t, holds)
		a := patient.Receive(t, let)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease)
		b.requireFree(t, "/m")
	})
}

// TestMaxWaitersAsTheOneBeforeLeaves: the one before gives back while a client looks. The queue at the time of the
// look counts, and the next look finds room. Of its own client's nodes a client knows better, and its calls keep their order.
func TestMaxWaitersAsTheOneBeforeLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		bounded := b.client.Mutex("/m", locks.WithMaxWaiters(1))
		holds := patient.Locked(t, b.other.Mutex("/m").Lock)
		look := b.look(t, b.client, "/m")
		got := patient.Elsewhere(patient.Deadline(t), bounded.Lock)
		require.NoError(t, look.Wait(patient.Deadline(t)))
		patient.GiveBack(t, holds)
		look.Release()
		require.ErrorIs(t, patient.Receive(t, got).Err, locks.ErrQueueFull)
		patient.GiveBack(t, patient.Locked(t, bounded.Lock))

		holds = patient.Locked(t, b.client.Mutex("/m").Lock)
		look = b.look(t, b.client, "/m")
		second := patient.Elsewhere(patient.Deadline(t), b.client.Mutex("/m", locks.WithMaxWaiters(2)).Lock)
		require.NoError(t, look.Wait(patient.Deadline(t)))
		holds.Release()
		synctest.Wait()
		got = patient.Elsewhere(patient.Deadline(t), bounded.Lock)
		synctest.Wait()
		look.Release()
		a := patient.Receive(t, second)
		require.NoError(t, a.Err)
		require.ErrorIs(t, patient.Receive(t, got).Err, locks.ErrQueueFull, "the second was let in before it")
		patient.GiveBack(t, a.Lease)
		b.requireFree(t, "/m")
	})
}

// TestMaxWaitersOfSeveral: one of several locks has a bound. All is refused, and has given back what it held.
func TestMaxWaitersOfSeveral(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		several := func(most int) (*locks.Leases, error) {
			return locks.All(patient.Deadline(t), b.client.Mutex("/c"), b.client.Mutex("/b", locks.WithMaxWaiters(most)),
				b.client.RWMutex("/a"), b.client.Semaphore("/d", 1, locks.WithMaxWaiters(1)).Weight(1))
		}
		holds := patient.Locked(t, b.other.Mutex("/b").Lock)
		_, err := several(1)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.True(t, locks.MayPass(err))
		patient.GiveBack(t, patient.Locked(t, b.other.RWMutex("/a", locks.WithMaxWaiters(1)).Lock))
		permits := patient.Locked(t, b.other.Semaphore("/d", 1).Weight(1).Lock)
		got := make(chan error, 1)
		go func() {
			_, err := several(2)
			got <- err
		}()
		synctest.Wait()
		require.Len(t, patient.QueueOf(t, b.other, "/b"), 2, "behind one it waits")
		patient.GiveBack(t, holds)
		require.ErrorIs(t, patient.Receive(t, got), locks.ErrQueueFull, "the last of them is full")
		b.requireFree(t, "/b", "/c")
		patient.GiveBack(t, permits)
		leases, err := several(1)
		require.NoError(t, err)
		require.NoError(t, leases.Unlock(patient.Deadline(t)))
		b.requireFree(t, "/b", "/c")
	})
}

// TestMaxWaitersOfADowngrade: a writer becomes a reader whatever waits behind it. Its owner's call for reading while it is
// still to become the writer is one that has to wait.
func TestMaxWaitersOfADowngrade(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		rw := b.client.RWMutex("/rw", locks.WithMaxWaiters(1))
		writes := patient.Locked(t, rw.Lock)
		waits := patient.Elsewhere(patient.Deadline(t), b.other.RWMutex("/rw").Lock)
		synctest.Wait()
		reads := patient.Locked(t, writes.Downgrade)
		_, err := rw.RLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrQueueFull, "a writer waits before another reader")
		patient.GiveBack(t, reads)
		a := patient.Receive(t, waits)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease)
		b.requireFree(t, "/rw")
	})
}

// TestMaxWaitersOfAnElection: a candidate with a bound is refused where others stand. Run tries again, and leads.
func TestMaxWaitersOfAnElection(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		leader, err := b.other.Election("/e").Campaign(patient.Deadline(t), "other")
		require.NoError(t, err)
		stands := b.client.Election("/e", locks.WithMaxWaiters(1))
		_, err = stands.Campaign(patient.Deadline(t), "client")
		require.ErrorIs(t, err, locks.ErrQueueFull)
		ctx, stop := context.WithCancel(patient.Deadline(t))
		leads, over := make(chan struct{}), make(chan error, 1)
		go func() {
			over <- stands.Run(ctx, "client", func(ctx context.Context, _ *locks.Leadership) error {
				close(leads)
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		time.Sleep(time.Minute)
		require.Len(t, patient.QueueOf(t, b.other, "/e"), 1, "it is refused, again and again")
		require.NoError(t, leader.Resign(patient.Deadline(t)))
		patient.Receive(t, leads)
		stop()
		require.ErrorIs(t, patient.Receive(t, over), context.Canceled)
		b.requireFree(t, "/e")
	})
}

// TestMaxWaitersOfAJob: a job that waits for its turn, with a bound, is not called, and says why.
func TestMaxWaitersOfAJob(t *testing.T) {
	inBubble(t, func(t *testing.T, b *beside) {
		holds := patient.Locked(t, b.other.Mutex("/job").Lock)
		once, err := locks.RunOnce(patient.Deadline(t), b.client, "/job", time.Hour,
			func(context.Context, locks.Token) error { t.Error("it is called"); return nil },
			locks.WithWaiting(), locks.WithMaxWaiters(1))
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.Empty(t, once.Outcome)
		patient.GiveBack(t, holds)
		once, err = locks.RunOnce(patient.Deadline(t), b.client, "/job", time.Hour,
			func(context.Context, locks.Token) error { return nil }, locks.WithWaiting(), locks.WithMaxWaiters(1))
		require.NoError(t, err)
		require.Equal(t, locks.OnceRan, once.Outcome)
	})
}
