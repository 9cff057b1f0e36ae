package matrix

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestMovingUpIsToldOnce: a waiter of a semaphore that comes to hold writes to its node once, also
// where the waiter behind it, which watches that node, is of the same session, so that the event
// comes back to it.
func TestMovingUpIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := new(atomic.Int32)
		hook := func(r embedded.Request) embedded.Action {
			if r.Op == embedded.OpSetData && len(r.Paths) == 1 && r.Paths[0] != lockPath {
				writes.Add(1)
			}
			return embedded.Pass
		}
		w := newWorld(t, 1, embedded.WithHook(hook))
		first := w.join(t, w.server.Connect())
		semaphore := first.client.Semaphore(lockPath, 1)
		lease, err := semaphore.Acquire(patient(t), 1)
		require.NoError(t, err)
		synctest.Wait() // until it has written as well
		var waiters []*player
		for range 3 {
			p := newPlayer(t, first.client, lockPath)
			p.locker = first.client.Semaphore(lockPath, 1, locks.WithObserver(p.rec.PID())).Weight(1)
			p.wait(t)
			waiters = append(waiters, p)
		}
		require.NoError(t, lease.Unlock(patient(t)))
		for i, p := range waiters {
			lease := p.hold(t)
			time.Sleep(timeout)
			require.Equal(t, int32(i+2), writes.Load())
			require.NoError(t, lease.Unlock(patient(t)))
		}
	})
}

// TestMovedUpBeforeTheWatch: the one before a semaphore's waiter comes to hold between the waiter's listing, by which
// it does not hold yet, and the waiter's watch. Its writing tells nobody then, so the waiter has to find out by
// what was written: otherwise it would not see another holder leave.
func TestMovedUpBeforeTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		others, late := w.join(t, w.server.Connect()), w.join(t, w.server.Connect())
		one, err := others.client.Semaphore(lockPath, 2).Acquire(patient(t), 1)
		require.NoError(t, err)
		two, err := others.client.Semaphore(lockPath, 2).Acquire(patient(t), 1)
		require.NoError(t, err)
		before := newPlayer(t, others.client, lockPath)
		before.locker = others.client.Semaphore(lockPath, 2, locks.WithObserver(before.rec.PID())).Weight(1)
		before.wait(t)

		listing, err := w.server.Inject(embedded.Fault{Op: embedded.OpGetChildren2, Path: lockPath,
			Session: late.session(), Action: embedded.HoldReplies})
		require.NoError(t, err)
		late.locker = late.client.Semaphore(lockPath, 2, locks.WithObserver(late.rec.PID())).Weight(1)
		late.ask(t)
		require.NoError(t, listing.Wait(patient(t)))
		require.NoError(t, one.Unlock(patient(t)))
		held := before.hold(t)
		synctest.Wait() // until it has written that it holds
		listing.Release()
		late.await(t, messages.StateWatching)
		synctest.Wait()

		began := time.Now()
		require.NoError(t, two.Unlock(patient(t)))
		last := late.hold(t)
		require.Less(t, time.Since(began), timeout/2, "found out by a poll")
		require.Zero(t, late.client.Session().Counters().Polls)
		require.NoError(t, held.Unlock(patient(t)))
		require.NoError(t, last.Unlock(patient(t)))
	})
}
