package faces

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestSeveralLocks: they are held in the order of their paths. Where one is lost, or the wait for the last is given up, the others
// are given back. Package locks alone has that: an actor takes one after the other.
func TestSeveralLocks(t *testing.T) {
	paths := []string{"/many/a", "/many/b", "/many/c"}
	eachFace(t, func(t *testing.T, f face, at *scene.Servers) {
		if f.name == "actors" {
			return
		}
		s := newStory(t, f, at, paths[0])
		ask := func(of asker, ctx context.Context) (*locks.Leases, error) {
			c := of.(client)
			return locks.All(ctx, c.Semaphore(paths[2], 2).Weight(1), c.Mutex(paths[0]), c.Contest(paths[1]))
		}
		var newest locks.Token
		hold := func(of asker) *locks.Leases {
			all, err := ask(of, scene.Deadline(t))
			require.NoError(t, err)
			require.True(t, all.Valid())
			for i, lease := range all.Each() {
				require.Equal(t, paths[i], lease.Path())
			}
			require.Greater(t, all.Each()[0].Token(), newest)
			newest = all.Each()[0].Token()
			return all
		}
		first := hold(s.one)
		s.o.Remove(t, paths[0], first.Each()[0].Node())
		<-first.Context().Done()
		require.ErrorIs(t, context.Cause(first.Context()), locks.ErrLost)
		require.False(t, first.Valid())
		second := hold(s.other) // before anybody gives back what is left of the first
		lost := first.Unlock(scene.Deadline(t))
		require.ErrorIs(t, lost, locks.ErrLost)
		require.ErrorContains(t, lost, paths[0])
		require.NoError(t, second.Unlock(scene.Deadline(t)))
		require.ErrorIs(t, second.Unlock(scene.Deadline(t)), locks.ErrNotHeld)

		other := s.other.(client)
		holder := scene.Locked(t, other.Semaphore(paths[2], 2).Weight(2).Lock)
		ctx, cancel := context.WithCancel(scene.Deadline(t))
		got := make(chan error, 1)
		go func() {
			_, err := ask(s.one, ctx)
			got <- err
		}()
		scene.AwaitCount(t, at, paths[2], 2)
		_, err := other.Mutex(paths[0]).TryLock(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		cancel()
		given := scene.Receive(t, got)
		require.ErrorIs(t, given, context.Canceled)
		require.ErrorContains(t, given, paths[2])
		scene.GiveBack(t, scene.Locked(t, other.Mutex(paths[0]).Lock), holder)
		scene.AwaitNone(t, at, paths[2])
	})
}
