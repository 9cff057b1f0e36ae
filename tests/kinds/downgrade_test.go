package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestDowngradeBeforeACrowd: with writers and readers behind, of the same session and of another, nobody comes in between.
func TestDowngradeBeforeACrowd(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		rw := one.RWMutex("/down")
		for name, downgrade := range map[string]func(w *locks.Lease) *locks.Lease{
			"Downgrade": func(w *locks.Lease) *locks.Lease { return scene.Locked(t, w.Downgrade) },
			"RLock within the lease": func(w *locks.Lease) *locks.Lease {
				r, err := rw.RLock(w.Context())
				require.NoError(t, err)
				scene.GiveBack(t, w)
				return r
			},
		} {
			w := scene.Locked(t, rw.Lock)
			var crowd []*scene.Waiter
			for _, client := range []*locks.Client{two, one} {
				for _, kind := range []scene.Kind{scene.Writer, scene.Reader} {
					crowd = append(crowd, kind.Waits(t, client, "/down"))
				}
			}
			r := downgrade(w)
			require.Equal(t, w.Token(), r.Token(), name)
			require.NotEqual(t, w.Node(), r.Node(), name)
			require.ErrorIs(t, context.Cause(w.Context()), locks.ErrReleased, name)
			_, err := w.Downgrade(scene.Deadline(t))
			require.Error(t, err, "what is given back cannot be downgraded")
			scene.CatchUp(t, two)
			scene.Reader.Fails(t, one, "/down")
			_, err = rw.Lock(r.Context())
			require.ErrorIs(t, err, locks.ErrUpgrade, "there is no way back")
			last := r
			for i, next := range crowd {
				for _, later := range crowd[i:] {
					later.Waits(t)
				}
				scene.GiveBack(t, last)
				last = next.Granted(t)
				require.Greater(t, last.Token(), r.Token(), name)
			}
			scene.GiveBack(t, last)
			scene.AwaitNone(t, zk, "/down")
		}
	})
}

// TestOnlyWritersAreDowngraded: other leases say so, and go on, as a writer does whose downgrade is given up.
func TestOnlyWritersAreDowngraded(t *testing.T) {
	client := scene.OnEmbedded(t).Open(t)
	for name, kind := range map[string]scene.Kind{"exclusive": scene.Exclusive, "read": scene.Reader,
		"semaphore": scene.Permits(1, 1), "contest": scene.Contest} {
		lease := kind.Holds(t, client, "/"+name)
		_, err := lease.Downgrade(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotWriter)
		require.ErrorContains(t, err, name)
		scene.GiveBack(t, lease)
	}
	w := scene.Writer.Holds(t, client, "/write")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Downgrade(ended)
	require.ErrorIs(t, err, context.Canceled)
	scene.GiveBack(t, w)
}

// TestUpgradeIsRefused at once: it would wait for itself.
func TestUpgradeIsRefused(t *testing.T) {
	zk := scene.OnEmbedded(t)
	client := zk.Open(t)
	for _, opts := range [][]locks.LockOption{nil, {locks.WithReentry()}} {
		rw := client.RWMutex("/upgrade", opts...)
		lease := scene.Locked(t, rw.RLock)
		for _, lock := range []func(context.Context) (*locks.Lease, error){
			rw.Lock, rw.TryLock, client.Mutex("/upgrade", opts...).Lock,
		} {
			_, err := lock(lease.Context())
			require.ErrorIs(t, err, locks.ErrUpgrade)
		}
		require.Len(t, zk.Children(t, zk.Raw(t), "/upgrade"), 1)
		scene.GiveBack(t, lease)
		_, err := rw.TryLock(lease.Context())
		require.ErrorIs(t, err, locks.ErrReleased, "its context is over")
		w, err := rw.Lock(context.WithoutCancel(lease.Context()))
		require.NoError(t, err, "within a lease that is given back it is a request like any other")
		scene.GiveBack(t, w)
	}
}
