package elections

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestContest: the client that makes the node holds.
func TestContest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		one, two := zk.Open(t), zk.Open(t)
		lease := patient.Locked(t, one.Contest("/deep/contest").Lock)
		_, err := two.Contest("/deep/contest").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		waiting := patient.Elsewhere(patient.Deadline(t), two.Contest("/deep/contest").Lock)
		patient.GiveBack(t, lease)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), lease.Token())
		patient.GiveBack(t, got.Lease)
	})
}

// TestContestAmongMany: several contenders in each of several sessions; one holds at a time, and each gets its turn.
func TestContestAmongMany(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		var holding sync.Mutex
		var all sync.WaitGroup
		for range 3 {
			client := zk.Open(t)
			for range 4 {
				all.Go(func() {
					for range 3 {
						lease, err := client.Contest("/arena/many").Lock(patient.Deadline(t))
						if !assert.NoError(t, err) {
							return
						}
						assert.True(t, holding.TryLock(), "two hold")
						assert.True(t, lease.Valid())
						holding.Unlock()
						assert.NoError(t, lease.Unlock(patient.Deadline(t)))
					}
				})
			}
		}
		all.Wait()
		stories.AwaitNone(t, zk, "/arena")
	})
}

// TestBadContests are refused before anything is sent.
func TestBadContests(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		for _, contest := range []*locks.Contest{
			client.Contest("/"), client.Contest(""), client.Contest("c"), client.Contest("/a//c"), client.Contest("/c/"),
		} {
			_, err := contest.Lock(patient.Deadline(t))
			require.Error(t, err)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		}
		for _, opt := range []locks.LockOption{locks.WithName("n"), locks.WithWatchAll()} {
			_, err := client.Contest("/c", opt).TryLock(patient.Deadline(t))
			require.ErrorIs(t, err, actors.ErrBadAcquire)
		}
		require.Empty(t, zk.Children(t, zk.Raw(t), ""))
	})
}

// TestContestBehindAPersistentNode: the error of a Lock says that no session's end deletes the node that it waits for.
func TestContestBehindAPersistentNode(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		zk.Write(t, "/taken", "settings")
		waited := &locks.Error{}
		patient.Eventually(t, func() bool {
			ctx, cancel := context.WithTimeout(patient.Deadline(t), 200*time.Millisecond)
			defer cancel()
			_, err := client.Contest("/taken").Lock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			return errors.As(err, &waited) && waited.Behind.Library != messages.LibraryUnknown
		}, "nothing is said of the node")
		require.Equal(t, messages.LibraryNone, waited.Behind.Library)
		require.ErrorContains(t, waited, "behind taken, no lock, a persistent node that stands until somebody deletes it")

		waiting := patient.Elsewhere(patient.Deadline(t), client.Contest("/taken").Lock)
		require.NoError(t, zk.Raw(t).Delete(zk.Root()+"/taken", -1))
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		patient.GiveBack(t, got.Lease)
	})
}
