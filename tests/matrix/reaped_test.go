package matrix

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestReapedLockPaths: a lock path is deleted while it is empty, as servers do with containers. They have carried out one of the
// requests of a first request, and have not answered. The lock path is made again, with its number of permits, and the
// request holds.
func TestReapedLockPaths(t *testing.T) {
	t.Parallel()
	semaphore := func(c *locks.Client) locks.Locker { return c.Semaphore(lockPath, 2).Weight(1) }
	for name, c := range map[string]struct {
		lock    func(*locks.Client) locks.Locker
		permits int
		at      embedded.Fault
	}{
		"mutex/made":                 {func(c *locks.Client) locks.Locker { return c.Mutex(lockPath) }, 0, embedded.Fault{Op: embedded.OpCreateContainer}},
		"semaphore/made":             {semaphore, 2, embedded.Fault{Op: embedded.OpCreateContainer}},
		"semaphore/permits-read":     {semaphore, 2, embedded.Fault{Op: embedded.OpGetData, Skip: 1}},
		"semaphore/permits-recorded": {semaphore, 2, embedded.Fault{Op: embedded.OpSetData}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				client := w.join(t, mutex, w.server.Connect()).client
				c.at.Path, c.at.Action = lockPath, embedded.HoldReplies
				kept := w.inject(t, c.at)
				got := scene.Elsewhere(scene.Deadline(t), c.lock(client).Lock)
				require.NoError(t, kept.Wait(scene.Deadline(t)))
				synctest.Wait()
				require.NoError(t, w.operator.Delete(lockPath, -1))
				kept.Release()
				a := scene.Receive(t, got)
				require.NoError(t, a.Err)
				permits, err := client.Permits(scene.Deadline(t), lockPath)
				require.NoError(t, err)
				require.Equal(t, c.permits, permits)
				scene.GiveBack(t, a.Lease)
				require.NoError(t, w.operator.Delete(lockPath, -1)) // that it exists is known
				scene.GiveBack(t, scene.Locked(t, semaphore(client).Lock))
			})
		})
	}
}
