package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestReentry: by default a lock within its own lease is refused at once, in every kind, and leaves nothing behind. With
// WithReentry each lease is given back by itself, once, in any order; the lock goes with the last.
func TestReentry(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client, other := zk.Open(t), zk.Open(t)
	named := scene.Exclusive.With(locks.WithName("n"))
	for name, kinds := range map[string]struct{ mine, theirs scene.Kind }{
		"exclusive": {scene.Exclusive, scene.Writer}, "write": {scene.Writer, scene.Reader},
		"read": {scene.Reader, scene.Writer}, "named": {named, named}, "contest": {scene.Contest, scene.Contest},
	} {
		path := "/reentry/" + name
		outer := kinds.mine.Holds(t, client, path)
		_, err := kinds.mine(client, path).Lock(outer.Context())
		require.ErrorIs(t, err, locks.ErrReentry, name)
		require.ErrorContains(t, err, outer.Node())
		scene.GiveBack(t, outer)

		var leases []*locks.Lease
		within := scene.Deadline(t)
		for range 4 {
			lease, err := kinds.mine(client, path, locks.WithReentry()).Lock(within)
			require.NoError(t, err)
			leases, within = append(leases, lease), lease.Context()
		}
		for _, i := range []int{1, 0, 3, 2} { // the inner ones outlive the outer one
			kinds.theirs.Fails(t, other, path)
			require.True(t, leases[i].Valid())
			require.Equal(t, leases[2].Token(), leases[i].Token())
			require.Equal(t, leases[2].Node(), leases[i].Node())
			scene.GiveBack(t, leases[i])
			require.ErrorIs(t, leases[i].Unlock(scene.Deadline(t)), locks.ErrNotHeld)
		}
		scene.GiveBack(t, scene.Locked(t, locks.Try(kinds.theirs(other, path)).Lock))
		scene.AwaitNone(t, zk, path)
	}
	// Permits are nobody's in particular: a second one is a second one.
	first := scene.Permits(1, 2).Holds(t, client, "/reentry/permits")
	second, err := client.Semaphore("/reentry/permits", 2).Acquire(first.Context(), 1)
	require.NoError(t, err)
	require.NotEqual(t, first.Node(), second.Node())
	scene.GiveBack(t, first, second)
}

// TestWithinALeaseOfAnotherLock: two that lock within one lease are two, and wait for each other.
func TestWithinALeaseOfAnotherLock(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	outer := scene.LockAt(t, client, "/outer")
	inner := client.Mutex("/inner", locks.WithReentry())
	within := func(ctx context.Context, l locks.Locker) *locks.Lease {
		lease, err := l.Lock(ctx)
		require.NoError(t, err)
		return lease
	}
	first := within(outer.Context(), inner)
	_, err := inner.TryLock(outer.Context())
	require.ErrorIs(t, err, locks.ErrNotAcquired, "a sibling contends")
	derived, cancel := context.WithCancel(first.Context())
	defer cancel()
	again := within(derived, inner)
	_, err = client.Mutex("/outer").Lock(again.Context())
	require.ErrorIs(t, err, locks.ErrReentry, "the outer lock is not forgotten")
	once := within(again.Context(), client.Mutex("/outer", locks.WithReentry()))
	named := within(first.Context(), client.Mutex("/inner", locks.WithName("other"))) // which is another lock
	scene.GiveBack(t, named, once, outer, first, again)
	scene.AwaitNone(t, zk, "/outer")
	scene.AwaitNone(t, zk, "/inner")
}

// TestWithinALeaseThatIsGivenBack: its values live on, its ownership does not.
func TestWithinALeaseThatIsGivenBack(t *testing.T) {
	client := scene.OnEmbedded(t).Open(t)
	lease := scene.LockAt(t, client, "/over")
	within := context.WithoutCancel(lease.Context())
	scene.GiveBack(t, lease)
	theirs := scene.LockAt(t, client, "/over")
	for _, opts := range [][]locks.LockOption{nil, {locks.WithReentry()}} {
		_, err := client.Mutex("/over", opts...).TryLock(within)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
	}
	waiting := scene.Elsewhere(within, client.Mutex("/over").Lock)
	scene.AwaitWaiting(t, client, "/over", 1)
	scene.GiveBack(t, theirs)
	scene.GiveBack(t, scene.Got(t, waiting))
}
