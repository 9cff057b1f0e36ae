package kinds

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// permitsOf acquires a number of permits, as patient.Elsewhere wants it.
func permitsOf(s *locks.Semaphore, n int) func(context.Context) (*locks.Lease, error) {
	return func(ctx context.Context) (*locks.Lease, error) { return s.Acquire(ctx, n) }
}

// queueUp acquires permits elsewhere and waits until the request has come into a state.
func queueUp(t *testing.T, client *locks.Client, path string, permits, n int, until messages.State,
	opts ...locks.LockOption) <-chan patient.Answer {
	t.Helper()
	rec := patient.Recorder(t, client)
	got := patient.Elsewhere(patient.Deadline(t), permitsOf(client.Semaphore(path, permits,
		append(opts, patient.ObservedBy(rec))...), n))
	patient.Await(t, rec, until)
	return got
}

// TestHoldersLeaveInAnyOrder: when any holder leaves, the first waiter comes in, and the others
// stay in their order.
func TestHoldersLeaveInAnyOrder(t *testing.T) {
	const permits = 3
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t)}
		for n, order := range [][permits]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			path := fmt.Sprintf("/order-%d", n)
			var holders [permits]*locks.Lease
			var waiters [permits]<-chan patient.Answer
			for i := range holders {
				var err error
				holders[i], err = clients[i%2].Semaphore(path, permits).Acquire(patient.Deadline(t), 1)
				require.NoError(t, err)
			}
			for i := range waiters {
				waiters[i] = queueUp(t, clients[(i+1)%2], path, permits, 1, messages.StateWatching)
			}
			last := holders[permits-1].Token()
			for i, leaving := range order {
				patient.GiveBack(t, holders[leaving])
				next := patient.Receive(t, waiters[i])
				require.NoError(t, next.Err)
				require.Greater(t, next.Lease.Token(), last)
				last = next.Lease.Token()
				for _, waiter := range waiters[i+1:] {
					require.Empty(t, waiter, "came in early")
				}
				defer func() { patient.GiveBack(t, next.Lease) }()
			}
		}
	})
}

// TestHeavyWaiterIsNotOvertaken: a request for many permits waits for them, and no request for few
// passes it.
func TestHeavyWaiterIsNotOvertaken(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		first, err := one.Semaphore("/heavy", 5).Acquire(patient.Deadline(t), 2)
		require.NoError(t, err)
		second, err := two.Semaphore("/heavy", 5).Acquire(patient.Deadline(t), 2)
		require.NoError(t, err)
		heavy := queueUp(t, two, "/heavy", 5, 4, messages.StateWatching)
		_, err = one.Semaphore("/heavy", 5).TryAcquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "one permit is free, and the heavy one is before us")
		light := queueUp(t, one, "/heavy", 5, 1, messages.StateWatching)

		patient.GiveBack(t, second, first)
		gotHeavy, gotLight := patient.Receive(t, heavy), patient.Receive(t, light) // 4 + 1 fit together
		require.NoError(t, gotHeavy.Err)
		require.NoError(t, gotLight.Err)
		require.Greater(t, gotLight.Lease.Token(), gotHeavy.Lease.Token())
		_, err = one.Semaphore("/heavy", 5).TryAcquire(patient.Deadline(t), 1)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		patient.GiveBack(t, gotHeavy.Lease)
		rest, err := two.Semaphore("/heavy", 5).TryAcquire(patient.Deadline(t), 4)
		require.NoError(t, err, "all permits of the heavy one came back")
		patient.GiveBack(t, rest, gotLight.Lease)
		stories.AwaitNone(t, zk, "/heavy")
	})
}

// TestWaiterThatGivesUpLetsTheOthersIn: a heavy waiter goes, and those behind it fit at once.
func TestWaiterThatGivesUpLetsTheOthersIn(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		holder, err := one.Semaphore("/gives-up", 3).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(patient.Deadline(t))
		rec := patient.Recorder(t, two)
		heavy := patient.Elsewhere(ctx, permitsOf(two.Semaphore("/gives-up", 3, locks.WithObserver(rec.PID())), 3))
		patient.Await(t, rec, messages.StateWatching)
		light := queueUp(t, one, "/gives-up", 3, 1, messages.StateWatching)
		lighter := queueUp(t, two, "/gives-up", 3, 1, messages.StateWatching)
		cancel()
		require.ErrorIs(t, patient.Receive(t, heavy).Err, context.Canceled)
		for _, waiter := range []<-chan patient.Answer{light, lighter} {
			got := patient.Receive(t, waiter)
			require.NoError(t, got.Err)
			patient.GiveBack(t, got.Lease)
		}
		patient.GiveBack(t, holder)
		stories.AwaitNone(t, zk, "/gives-up")
	})
}

// TestBadPermits are refused before anything is sent.
func TestBadPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for _, bad := range []struct {
			permits, n int
			says       string
		}{
			{0, 1, "permits 0"}, {-1, 1, "permits -1"}, {queue.MaxPermits + 1, 1, fmt.Sprint(queue.MaxPermits)},
			{3, 0, "0 permits"}, {3, -2, "-2 permits"}, {3, queue.MaxPermits + 1, fmt.Sprint(queue.MaxPermits)},
		} {
			for _, acquire := range []func(context.Context, int) (*locks.Lease, error){
				client.Semaphore("/bad/permits", bad.permits).Acquire, client.Semaphore("/bad/permits", bad.permits).TryAcquire,
			} {
				_, err := acquire(patient.Deadline(t), bad.n)
				require.ErrorIs(t, err, actors.ErrBadAcquire, "%+v", bad)
				require.ErrorContains(t, err, bad.says)
			}
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""), "nothing was made")
	})
}
