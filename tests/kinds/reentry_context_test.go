package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReleasesMatchAcquisitions: each lease is given back by itself, once, in any order; the lock goes with the last.
func TestReleasesMatchAcquisitions(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		for name, mutex := range map[string]locks.Locker{
			"exclusive": client.Mutex("/match", locks.WithReentry()),
			"write":     client.RWMutex("/match", locks.WithReentry()),
			"read":      client.RWMutex("/match", locks.WithReentry()).Reader(),
			"named":     client.Mutex("/match", locks.WithReentry(), locks.WithName("n")),
			"contest":   client.Contest("/match-one", locks.WithReentry()),
		} {
			t.Run(name, func(t *testing.T) {
				var leases []*locks.Lease
				within := patient.Deadline(t)
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
					_, err := theirs(patient.Deadline(t))
					require.ErrorIs(t, err, locks.ErrNotAcquired)
					require.True(t, leases[i].Valid())
					require.Equal(t, leases[2].Token(), leases[i].Token())
					require.Equal(t, leases[2].Node(), leases[i].Node())
					patient.GiveBack(t, leases[i])
					require.ErrorIs(t, leases[i].Unlock(patient.Deadline(t)), locks.ErrNotHeld)
				}
				lease, err := theirs(patient.Deadline(t))
				require.NoError(t, err)
				patient.GiveBack(t, lease)
			})
		}
	})
}

// TestWithinALeaseOfAnotherLock: two that lock within one lease are two, and wait for each other.
func TestWithinALeaseOfAnotherLock(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		outer := patient.Locked(t, client.Mutex("/outer").Lock)
		inner := client.Mutex("/inner", locks.WithReentry())
		first, err := inner.Lock(outer.Context())
		require.NoError(t, err)
		_, err = inner.TryLock(outer.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "a sibling contends")
		derived, cancel := context.WithCancel(first.Context())
		defer cancel()
		again, err := inner.Lock(derived)
		require.NoError(t, err, "a call within the inner lease does not")
		_, err = client.Mutex("/outer").Lock(again.Context())
		require.ErrorIs(t, err, locks.ErrReentry, "nor is the outer lock forgotten")
		once, err := client.Mutex("/outer", locks.WithReentry()).Lock(again.Context())
		require.NoError(t, err)
		named, err := client.Mutex("/inner", locks.WithName("other")).Lock(first.Context())
		require.NoError(t, err, "a queue of another name is another lock")
		for _, lease := range []*locks.Lease{named, once, outer, first, again} {
			patient.GiveBack(t, lease)
		}
		stories.AwaitNone(t, zk, "/outer")
		stories.AwaitNone(t, zk, "/inner")
	})
}

// TestWithinALeaseThatIsGivenBack: its values live on, its ownership does not.
func TestWithinALeaseThatIsGivenBack(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease, err := client.Mutex("/over").Lock(patient.Deadline(t))
		require.NoError(t, err)
		within := context.WithoutCancel(lease.Context())
		patient.GiveBack(t, lease)
		theirs := patient.Locked(t, client.Mutex("/over").Lock)
		for _, opts := range [][]locks.LockOption{nil, {locks.WithReentry()}} {
			_, err = client.Mutex("/over", opts...).TryLock(within)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
		}
		rec := patient.Recorder(t, client)
		waiting := patient.Elsewhere(within, client.Mutex("/over", patient.ObservedBy(rec)).Lock)
		patient.Await(t, rec, messages.StateWatching)
		patient.GiveBack(t, theirs)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		patient.GiveBack(t, got.Lease)
	})
}

// TestReentryIsRefusedAtOnce by default, in every kind of lock, and leaves nothing behind.
func TestReentryIsRefusedAtOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		rw := client.RWMutex("/refused/rw")
		for name, mutex := range map[string]locks.Locker{
			"exclusive": client.Mutex("/refused/m"), "write": rw, "read": rw.Reader(), "contest": client.Contest("/refused/c"),
		} {
			lease, err := mutex.Lock(patient.Deadline(t))
			require.NoError(t, err, name)
			_, err = mutex.Lock(lease.Context())
			require.ErrorIs(t, err, locks.ErrReentry, name)
			require.ErrorContains(t, err, lease.Node())
			require.True(t, lease.Valid())
			patient.GiveBack(t, lease)
		}
		// Permits are nobody's in particular: a second one is a second one.
		first, err := client.Semaphore("/refused/s", 2).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		second, err := client.Semaphore("/refused/s", 2).Acquire(first.Context(), 1)
		require.NoError(t, err)
		require.NotEqual(t, first.Node(), second.Node())
		patient.GiveBack(t, first, second)
		for _, path := range []string{"/refused/m", "/refused/rw", "/refused/s"} {
			stories.AwaitNone(t, zk, path)
		}
	})
}
