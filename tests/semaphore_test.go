package tests

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// permitsOf acquires a number of permits as elsewhere wants it.
func permitsOf(s *locks.Semaphore, n int) func(context.Context) (*locks.Lease, error) {
	return func(ctx context.Context) (*locks.Lease, error) { return s.Acquire(ctx, n) }
}

// queueUp acquires permits elsewhere and waits until the request has come into a state.
func queueUp(t *testing.T, client *locks.Client, path string, permits, n int, until messages.State,
	opts ...locks.LockOption) <-chan answer {
	t.Helper()
	rec := recorder(t, client)
	got := elsewhere(deadline(t), permitsOf(client.Semaphore(path, permits, append(opts, observedBy(rec))...), n))
	await(t, rec, until)
	return got
}

// TestHoldersLeaveInAnyOrder: whoever leaves, the first waiter comes in, and the others stay in their order.
func TestHoldersLeaveInAnyOrder(t *testing.T) {
	const permits = 3
	eachServer(t, func(t *testing.T, zk *servers) {
		clients := []*locks.Client{open(t, zk.Connect()), open(t, zk.Connect())}
		for n, order := range [][permits]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			path := fmt.Sprintf("/order-%d", n)
			var holders [permits]*locks.Lease
			var waiters [permits]<-chan answer
			for i := range holders {
				var err error
				holders[i], err = clients[i%2].Semaphore(path, permits).Acquire(deadline(t), 1)
				require.NoError(t, err)
			}
			for i := range waiters {
				waiters[i] = queueUp(t, clients[(i+1)%2], path, permits, 1, messages.StateWatching)
			}
			last := holders[permits-1].Token()
			for i, leaving := range order {
				require.NoError(t, holders[leaving].Unlock(deadline(t)))
				next := receive(t, waiters[i])
				require.NoError(t, next.err)
				require.Greater(t, next.lease.Token(), last)
				last = next.lease.Token()
				for _, waiter := range waiters[i+1:] {
					require.Empty(t, waiter, "came in early")
				}
				defer func() { require.NoError(t, next.lease.Unlock(deadline(t))) }()
			}
		}
	})
}

// TestHeavyWaiterIsNotOvertaken: who asks for many waits for them, and nobody who asks for few passes.
func TestHeavyWaiterIsNotOvertaken(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		first, err := one.Semaphore("/heavy", 5).Acquire(deadline(t), 2)
		require.NoError(t, err)
		second, err := two.Semaphore("/heavy", 5).Acquire(deadline(t), 2)
		require.NoError(t, err)
		heavy := queueUp(t, two, "/heavy", 5, 4, messages.StateWatching)
		_, err = one.Semaphore("/heavy", 5).TryAcquire(deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "one permit is free, and the heavy one is before us")
		light := queueUp(t, one, "/heavy", 5, 1, messages.StateWatching)

		require.NoError(t, second.Unlock(deadline(t)))
		require.NoError(t, first.Unlock(deadline(t)))
		gotHeavy, gotLight := receive(t, heavy), receive(t, light) // 4 + 1 fit together
		require.NoError(t, gotHeavy.err)
		require.NoError(t, gotLight.err)
		require.Greater(t, gotLight.lease.Token(), gotHeavy.lease.Token())
		_, err = one.Semaphore("/heavy", 5).TryAcquire(deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, gotHeavy.lease.Unlock(deadline(t)))
		rest, err := two.Semaphore("/heavy", 5).TryAcquire(deadline(t), 4)
		require.NoError(t, err, "all permits of the heavy one came back")
		require.NoError(t, rest.Unlock(deadline(t)))
		require.NoError(t, gotLight.lease.Unlock(deadline(t)))
		awaitNone(t, zk, "/heavy")
	})
}

// TestWaiterThatGivesUpLetsTheOthersIn: a heavy waiter goes, and those behind it fit at once.
func TestWaiterThatGivesUpLetsTheOthersIn(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		one, two := open(t, zk.Connect()), open(t, zk.Connect())
		holder, err := one.Semaphore("/gives-up", 3).Acquire(deadline(t), 1)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(deadline(t))
		rec := recorder(t, two)
		heavy := elsewhere(ctx, permitsOf(two.Semaphore("/gives-up", 3, locks.WithObserver(rec.PID())), 3))
		await(t, rec, messages.StateWatching)
		light := queueUp(t, one, "/gives-up", 3, 1, messages.StateWatching)
		lighter := queueUp(t, two, "/gives-up", 3, 1, messages.StateWatching)
		cancel()
		require.ErrorIs(t, receive(t, heavy).err, context.Canceled)
		for _, waiter := range []<-chan answer{light, lighter} {
			got := receive(t, waiter)
			require.NoError(t, got.err)
			require.NoError(t, got.lease.Unlock(deadline(t)))
		}
		require.NoError(t, holder.Unlock(deadline(t)))
		awaitNone(t, zk, "/gives-up")
	})
}

// TestBadPermits are refused before anything is sent.
func TestBadPermits(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		for _, bad := range []struct {
			permits, n int
			says       string
		}{
			{0, 1, "permits 0"}, {-1, 1, "permits -1"}, {queue.MaxPermits + 1, 1, fmt.Sprint(queue.MaxPermits)},
			{3, 0, "0 permits"}, {3, -2, "-2 permits"}, {3, 4, "weight 4"},
		} {
			for _, acquire := range []func(context.Context, int) (*locks.Lease, error){
				client.Semaphore("/bad/permits", bad.permits).Acquire, client.Semaphore("/bad/permits", bad.permits).TryAcquire,
			} {
				_, err := acquire(deadline(t), bad.n)
				require.ErrorIs(t, err, actors.ErrBadAcquire, "%+v", bad)
				require.ErrorContains(t, err, bad.says)
			}
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""), "nothing was made")
	})
}
