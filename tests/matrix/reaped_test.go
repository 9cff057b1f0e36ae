package matrix

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// reapedPath is a lock path that the servers delete while it is empty, as they do with containers.
const reapedPath = "/lock-reaped"

func semaphoreOfTwo(c *locks.Client, opts ...locks.LockOption) locks.Locker {
	return c.Semaphore(reapedPath, 2, opts...).Weight(1)
}

func reapedMutex(c *locks.Client, opts ...locks.LockOption) locks.Locker {
	return c.Mutex(reapedPath, opts...)
}

// reaped has the lock path of a first request vanish when the servers have carried out one of its
// requests, and before the answer comes.
func reaped(lock kind, at embedded.Fault) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		at.Action = embedded.HoldReplies
		kept := c.strike(t, at)
		p := newPlayerOf(t, c.ours, lock)
		p.ask(t)
		require.NoError(t, kept.Wait(patient(t)))
		synctest.Wait()
		require.NoError(t, c.operator.Delete(reapedPath, -1))
		kept.Release()
		p.hold(t)
		require.NoError(t, p.lease.Unlock(patient(t)))
	}
}

// reapings are scenes of a lock path that is reaped while a request finds out about it.
var reapings = []plot{
	{name: "mutex/made", outcome: "the lock path is made again, and the request holds",
		play: reaped(reapedMutex, embedded.Fault{Op: embedded.OpCreateContainer, Path: reapedPath})},
	{name: "mutex/reaped-since", outcome: "the lock path is made again, and the request holds",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, reapedPath)
			require.NoError(t, c.operator.Delete(reapedPath, -1))
			c.know(t, c.ours, reapedPath)
		}},
	{name: "semaphore/made", outcome: "the lock path is made again with its number of permits, and the request holds",
		play: reaped(semaphoreOfTwo, embedded.Fault{Op: embedded.OpCreateContainer, Path: reapedPath})},
	{name: "semaphore/permits-read", outcome: "the lock path is made again with its number of permits, and the request holds",
		play: reaped(semaphoreOfTwo, embedded.Fault{Op: embedded.OpGetData, Path: reapedPath, Skip: 1})},
	{name: "semaphore/permits-recorded", outcome: "the lock path is made again with its number of permits, and the request holds",
		play: reaped(semaphoreOfTwo, embedded.Fault{Op: embedded.OpSetData, Path: reapedPath})},
	{name: "semaphore/reaped-since", outcome: "what was a mutex's lock path is made again with a number of permits",
		play: func(t *testing.T, c *crowd) {
			c.know(t, c.ours, reapedPath)
			require.NoError(t, c.operator.Delete(reapedPath, -1))
			p := newPlayerOf(t, c.ours, semaphoreOfTwo)
			p.ask(t)
			p.hold(t)
			require.NoError(t, p.lease.Unlock(patient(t)))
		}},
}

// TestReapedLockPaths: a lock path that is reaped between two requests of a first request is made
// again.
func TestReapedLockPaths(t *testing.T) { testPlots(t, reapings) }
