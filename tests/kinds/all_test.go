package kinds

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// any four locks of different kinds.
func fourLocks(client *locks.Client, opts ...locks.LockOption) []locks.Locker {
	return []locks.Locker{
		client.Mutex("/all/b", opts...),
		client.RWMutex("/all/a", opts...).Reader(),
		client.Semaphore("/all/d", 3, opts...).Weight(2),
		client.Contest("/all/c", opts...),
	}
}

// TestAllNeverDeadlocks: callers name the same locks in any order.
func TestAllNeverDeadlocks(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t)}
		var holding sync.Mutex
		var all sync.WaitGroup
		for worker := range 6 {
			all.Go(func() {
				for range 5 {
					named := fourLocks(clients[worker%2])
					rand.Shuffle(len(named), func(i, j int) { named[i], named[j] = named[j], named[i] })
					leases, err := locks.All(patient.Deadline(t), named...)
					if !assert.NoError(t, err) {
						return
					}
					assert.True(t, holding.TryLock(), "two hold all")
					assert.True(t, leases.Valid())
					assert.Len(t, leases.Each(), len(named))
					holding.Unlock()
					assert.NoError(t, leases.Unlock(patient.Deadline(t)))
				}
			})
		}
		all.Wait()
		stories.AwaitNone(t, zk, "/all/a")
		stories.AwaitNone(t, zk, "/all/b")
		stories.AwaitNone(t, zk, "/all/d")
	})
}

// TestAllIsLostAsAWhole: one lock is lost, the others are given back.
func TestAllIsLostAsAWhole(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		leases, err := locks.All(patient.Deadline(t), one.Mutex("/whole/b"), two.RWMutex("/whole/a"), one.Mutex("/whole/c"))
		require.NoError(t, err)
		require.True(t, leases.Deadline().After(leases.Each()[0].Deadline().AddDate(-1, 0, 0)))
		broken := leases.Each()[1]
		require.Equal(t, "/whole/b", broken.Path())
		require.NoError(t, zk.Raw(t).Delete(zk.Root()+broken.Path()+"/"+broken.Node(), -1))
		<-leases.Context().Done()
		require.ErrorIs(t, context.Cause(leases.Context()), locks.ErrLost)
		require.False(t, leases.Valid())
		for _, path := range []string{"/whole/a", "/whole/b", "/whole/c"} {
			lease := patient.Locked(t, two.RWMutex(path).Lock)
			patient.GiveBack(t, lease)
		}
		require.ErrorIs(t, leases.Unlock(patient.Deadline(t)), locks.ErrLost)
	})
}

func TestAllOfNothing(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		_, err := locks.All(patient.Deadline(t), client.Mutex("/x"), nil)
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		_, err = locks.All(patient.Deadline(t), client.Semaphore("/x", 1).Weight(0))
		require.ErrorIs(t, err, actors.ErrBadAcquire)
		leases, err := locks.All(patient.Deadline(t), client.Mutex("/x"), client.Mutex("/x", locks.WithName("other")))
		require.NoError(t, err, "two queues of one lock path are two locks")
		require.NoError(t, leases.Unlock(patient.Deadline(t)))
		require.ErrorIs(t, leases.Unlock(patient.Deadline(t)), locks.ErrNotHeld)
	})
}

// TestAllAgreeWhateverTheirChroots: programs that know the same locks by different paths take them in
// one order, so that none waits for another in a circle. Here that order is not the one of the paths
// as the first program names them: /m, /z.
func TestAllAgreeWhateverTheirChroots(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		outer, inner := zk.Open(t), patient.Open(t, zk.Connect()+"/a")
		first := patient.Locked(t, inner.Mutex("/z").Lock)

		got := make(chan *locks.Leases, 1)
		go func() {
			leases, err := locks.All(patient.Deadline(t), outer.Mutex("/m"), inner.Mutex("/z"))
			assert.NoError(t, err)
			got <- leases
		}()
		stories.AwaitCount(t, zk, "/a/z", 2)
		require.Empty(t, zk.Children(t, zk.Raw(t), "/m"), "what comes later in the order is not asked for yet")

		patient.GiveBack(t, first)
		leases := <-got
		require.NotNil(t, leases)
		require.Equal(t, []string{"/z", "/m"}, []string{leases.Each()[0].Path(), leases.Each()[1].Path()})
		require.NoError(t, leases.Unlock(patient.Deadline(t)))
	})
}
