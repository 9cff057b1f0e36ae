package tests

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestReleasesMatchAcquisitions: each lease is given back by itself, once, in any order; the lock goes with the last.
func TestReleasesMatchAcquisitions(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client, other := open(t, zk.Connect()), open(t, zk.Connect())
		for name, mutex := range map[string]locks.Locker{
			"exclusive": client.Mutex("/match", locks.WithReentry()),
			"write":     client.RWMutex("/match", locks.WithReentry()),
			"read":      client.RWMutex("/match", locks.WithReentry()).Reader(),
			"named":     client.Mutex("/match", locks.WithReentry(), locks.WithName("n")),
			"contest":   client.Contest("/match-one", locks.WithReentry()),
		} {
			t.Run(name, func(t *testing.T) {
				var leases []*locks.Lease
				within := deadline(t)
				for range 4 {
					lease, err := mutex.Lock(within)
					require.NoError(t, err)
					leases = append(leases, lease)
					within = lease.Context()
				}
				theirs := map[string]func(context.Context) (*locks.Lease, error){
					"exclusive": other.RWMutex("/match").TryLock, "write": other.RWMutex("/match").TryRLock,
					"read": other.RWMutex("/match").TryLock, "named": other.Mutex("/match", locks.WithName("n")).TryLock,
					"contest": other.Contest("/match-one").TryLock,
				}[name]
				for _, i := range []int{1, 0, 3, 2} { // the inner ones outlive the outer one
					_, err := theirs(deadline(t))
					require.ErrorIs(t, err, locks.ErrNotAcquired)
					require.True(t, leases[i].Valid())
					require.Equal(t, leases[2].Token(), leases[i].Token())
					require.Equal(t, leases[2].Node(), leases[i].Node())
					require.NoError(t, leases[i].Unlock(deadline(t)))
					require.ErrorIs(t, leases[i].Unlock(deadline(t)), locks.ErrNotHeld)
				}
				lease, err := theirs(deadline(t))
				require.NoError(t, err)
				require.NoError(t, lease.Unlock(deadline(t)))
			})
		}
	})
}

// TestWithinALeaseOfAnotherLock: two that lock within one lease are two, and wait for each other.
func TestWithinALeaseOfAnotherLock(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		outer, err := client.Mutex("/outer").Lock(deadline(t))
		require.NoError(t, err)
		inner := client.Mutex("/inner", locks.WithReentry())
		first, err := inner.Lock(outer.Context())
		require.NoError(t, err)
		_, err = inner.TryLock(outer.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "a sibling contends")
		derived, cancel := context.WithCancel(first.Context())
		defer cancel()
		again, err := inner.Lock(derived)
		require.NoError(t, err, "whoever is within the inner lease does not")
		_, err = client.Mutex("/outer").Lock(again.Context())
		require.ErrorIs(t, err, locks.ErrReentry, "nor is the outer lock forgotten")
		once, err := client.Mutex("/outer", locks.WithReentry()).Lock(again.Context())
		require.NoError(t, err)
		named, err := client.Mutex("/inner", locks.WithName("other")).Lock(first.Context())
		require.NoError(t, err, "a queue of another name is another lock")
		for _, lease := range []*locks.Lease{named, once, outer, first, again} {
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		awaitNone(t, zk, "/outer")
		awaitNone(t, zk, "/inner")
	})
}

// TestWithinALeaseThatIsGivenBack: its values live on, its ownership does not.
func TestWithinALeaseThatIsGivenBack(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		lease, err := client.Mutex("/over").Lock(deadline(t))
		require.NoError(t, err)
		within := context.WithoutCancel(lease.Context())
		require.NoError(t, lease.Unlock(deadline(t)))
		theirs, err := client.Mutex("/over").Lock(deadline(t))
		require.NoError(t, err)
		for _, opts := range [][]locks.LockOption{nil, {locks.WithReentry()}} {
			_, err = client.Mutex("/over", opts...).TryLock(within)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
		}
		rec := recorder(t, client)
		waiting := elsewhere(within, client.Mutex("/over", observedBy(rec)).Lock)
		await(t, rec, messages.StateWatching)
		require.NoError(t, theirs.Unlock(deadline(t)))
		got := receive(t, waiting)
		require.NoError(t, got.err)
		require.NoError(t, got.lease.Unlock(deadline(t)))
	})
}

// TestReentryIsRefusedAtOnce by default, in whatever kind of lock, and leaves nothing behind.
func TestReentryIsRefusedAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		rw := client.RWMutex("/refused/rw")
		for name, mutex := range map[string]locks.Locker{
			"exclusive": client.Mutex("/refused/m"), "write": rw, "read": rw.Reader(), "contest": client.Contest("/refused/c"),
		} {
			lease, err := mutex.Lock(deadline(t))
			require.NoError(t, err, name)
			_, err = mutex.Lock(lease.Context())
			require.ErrorIs(t, err, locks.ErrReentry, name)
			require.ErrorContains(t, err, lease.Node())
			require.True(t, lease.Valid())
			require.NoError(t, lease.Unlock(deadline(t)))
		}
		// Permits are nobody's in particular: a second one is a second one.
		first, err := client.Semaphore("/refused/s", 2).Acquire(deadline(t), 1)
		require.NoError(t, err)
		second, err := client.Semaphore("/refused/s", 2).Acquire(first.Context(), 1)
		require.NoError(t, err)
		require.NotEqual(t, first.Node(), second.Node())
		require.NoError(t, first.Unlock(deadline(t)))
		require.NoError(t, second.Unlock(deadline(t)))
		for _, path := range []string{"/refused/m", "/refused/rw", "/refused/s"} {
			awaitNone(t, zk, path)
		}
	})
}
