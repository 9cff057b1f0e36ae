package leases

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestDo: the work runs under the lock, with a context that lies within the lease, and the lock is
// free when Do returns, however the work ends. It hears that its caller has gone, and why.
func TestDo(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		mine, others := zk.Open(t).Mutex("/do"), zk.Open(t).Mutex("/do")
		var last locks.Token
		require.NoError(t, locks.Do(scene.Deadline(t), mine, func(ctx context.Context, token locks.Token) error {
			require.NoError(t, ctx.Err())
			last = token
			_, err := others.TryLock(ctx)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			require.ErrorIs(t, locks.Do(ctx, locks.Try(others), nil), locks.ErrNotAcquired)
			_, err = mine.Lock(ctx)
			require.ErrorIs(t, err, locks.ErrReentry)
			return nil
		}))
		ctx, leave := context.WithCancelCause(scene.Deadline(t))
		gone := errors.New("the caller has gone")
		for want, work := range map[error]func(context.Context, locks.Token) error{
			scene.ErrOfWork: func(context.Context, locks.Token) error { return scene.ErrOfWork },
			gone: func(ctx context.Context, _ locks.Token) error {
				leave(gone)
				<-ctx.Done()
				return context.Cause(ctx)
			},
		} {
			within := scene.Deadline(t)
			if want == gone {
				within = ctx
			}
			err := locks.Do(within, mine, work)
			require.ErrorIs(t, err, want)
			require.NotErrorIs(t, err, locks.ErrLost)
			lease := scene.Locked(t, others.TryLock)
			require.Greater(t, lease.Token(), last)
			scene.GiveBack(t, lease)
		}
		require.ErrorIs(t, locks.Do(ctx, mine, nil), gone)
		require.PanicsWithValue(t, "work", func() {
			_ = locks.Do(scene.Deadline(t), mine, func(context.Context, locks.Token) error { panic("work") })
		})
		scene.GiveBack(t, scene.Locked(t, others.Lock)) // it is given back behind the panic
	})
}

// TestDoGivesBackWhenNobodyAnswers: the servers fall silent while the work runs. Do returns no later than the lease ends.
func TestDoGivesBackWhenNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		var fell time.Time
		require.NoError(t, locks.Do(t.Context(), scene.Client(t, server).Mutex("/do"), func(context.Context, locks.Token) error {
			time.Sleep(time.Minute) // a new connection's lease is longer
			server.Leader().HoldReplies()
			fell = time.Now()
			return nil
		}))
		require.LessOrEqual(t, time.Since(fell), 5*time.Second)
		server.Leader().ReleaseReplies()
	})
}

// TestMaxHold: a hold ends when it is said to, to the millisecond, with an error of its own, and then others get the lock.
func TestMaxHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		const most = 90 * time.Second
		mutex := client.Mutex("/hold", locks.WithMaxHold(most))
		lease := scene.Locked(t, mutex.Lock)
		granted := time.Now()
		got := scene.Elsewhere(t.Context(), other.Mutex("/hold").Lock)
		<-lease.Context().Done()
		require.Equal(t, most, time.Since(granted))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrMaxHold)
		require.False(t, lease.Valid())
		next := scene.Receive(t, got)
		require.NoError(t, next.Err)
		require.Less(t, time.Since(granted), most+time.Second)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrMaxHold)
		scene.GiveBack(t, next.Lease)

		scene.Cycle(t, mutex) // a hold that ends before leaves nothing behind
		time.Sleep(2 * most)
		require.Empty(t, scene.QueueOf(t, other, "/hold"))
	})
}

// TestRelease returns at once, and Unlock says whether the node is gone.
func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client, other := scene.Client(t, server), scene.Client(t, server)
		lease := scene.Locked(t, client.Mutex("/release").Lock)
		lease.Release()
		lease.Release()
		require.False(t, lease.Valid())
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		scene.GiveBack(t, lease)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrNotHeld)
		leases, err := locks.All(t.Context(), client.Mutex("/a"), client.Mutex("/b"))
		require.NoError(t, err)
		leases.Release()
		for _, path := range []string{"/a", "/b"} {
			scene.Cycle(t, other.Mutex(path))
		}
		require.NoError(t, leases.Unlock(t.Context()))
	})
}

// TestTryOfEachKind: a lock that is only tried is of the same kind as one that is waited for.
func TestTryOfEachKind(t *testing.T) {
	client := scene.Open(t, embedded.Run(t).Addr())
	rw := client.RWMutex("/kinds")
	for locker, mode := range map[locks.Locker]messages.Mode{
		locks.Try(rw): messages.Write, locks.Try(rw.Reader()): messages.Read, locks.Try(client.Mutex("/kinds")): messages.Exclusive,
	} {
		lease := scene.Locked(t, locker.Lock)
		queue := scene.QueueOf(t, client, "/kinds")
		require.Len(t, queue, 1)
		require.Equal(t, mode, queue[0].Mode)
		scene.GiveBack(t, lease)
	}
}
