package matrix

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestMovingUpIsToldOnce: a waiter of a semaphore that comes to hold writes to its node once, also where the one
// behind it, who watches that node, is of the same session and its event comes back to it.
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
