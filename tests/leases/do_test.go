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
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestDo: the work runs under the lock, with a context that lies within the lease, and the lock is
// free when Do returns, however the work ends.
func TestDo(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		mine, others := zk.Open(t).Mutex("/do"), zk.Open(t).Mutex("/do")
		var last locks.Token
		free := func() {
			t.Helper()
			lease := patient.Locked(t, others.TryLock)
			require.Greater(t, lease.Token(), last)
			patient.GiveBack(t, lease)
		}
		require.NoError(t, locks.Do(patient.Deadline(t), mine, func(ctx context.Context, token locks.Token) error {
			require.NoError(t, ctx.Err())
			last = token
			_, err := others.TryLock(ctx)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			require.ErrorIs(t, locks.Do(ctx, locks.Try(others), nil), locks.ErrNotAcquired)
			_, err = mine.Lock(ctx)
			require.ErrorIs(t, err, locks.ErrReentry)
			return nil
		}))
		free()
		err := locks.Do(patient.Deadline(t), mine, func(context.Context, locks.Token) error { return patient.ErrOfWork })
		require.Equal(t, patient.ErrOfWork, err)
		free()
		require.PanicsWithValue(t, "work", func() {
			_ = locks.Do(patient.Deadline(t), mine, func(context.Context, locks.Token) error { panic("work") })
		})
		lease, err := others.Lock(patient.Deadline(t)) // it is given back behind the panic
		require.NoError(t, err)
		patient.GiveBack(t, lease)
	})
}

// TestDoEndsWithItsCaller: the work hears that its caller has gone, and why, and the lock is given back.
func TestDoEndsWithItsCaller(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		mutex := zk.Open(t).Mutex("/do")
		gone := errors.New("the caller has gone")
		ctx, leave := context.WithCancelCause(patient.Deadline(t))
		err := locks.Do(ctx, mutex, func(ctx context.Context, _ locks.Token) error {
			leave(gone)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, gone)
		require.NotErrorIs(t, err, locks.ErrLost)
		patient.Cycle(t, mutex)
		require.ErrorIs(t, locks.Do(ctx, mutex, nil), gone)
	})
}

// TestDoIsCutShort: the session expires. The work hears of it, and Do says that it was cut short,
// whatever the work returns.
func TestDoIsCutShort(t *testing.T) {
	for name, returned := range map[string]error{"nothing": nil, "an error": patient.ErrOfWork} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client := bubble.Client(t, server)
				err := locks.Do(t.Context(), client.Mutex("/do"), func(ctx context.Context, _ locks.Token) error {
					require.NoError(t, server.Expire(server.Sessions()[0]))
					<-ctx.Done()
					require.ErrorIs(t, context.Cause(ctx), locks.ErrLost)
					return returned
				})
				require.ErrorIs(t, err, locks.ErrLost)
				if returned != nil {
					require.ErrorIs(t, err, returned)
				}
				require.NotContains(t, err.Error(), "\n")
			})
		})
	}
}

// TestDoGivesBackWhenNobodyAnswers: the servers fall silent while the work runs. Do returns no later than the lease ends.
func TestDoGivesBackWhenNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		var fell time.Time
		require.NoError(t, locks.Do(t.Context(), client.Mutex("/do"), func(context.Context, locks.Token) error {
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
		server := bubble.Server(t)
		client, other := bubble.Client(t, server), bubble.Client(t, server)
		const most = 90 * time.Second
		mutex := client.Mutex("/hold", locks.WithMaxHold(most))
		lease := bubble.Locked(t, mutex.Lock)
		granted := time.Now()
		got := patient.Elsewhere(t.Context(), other.Mutex("/hold").Lock)
		<-lease.Context().Done()
		require.Equal(t, most, time.Since(granted))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrMaxHold)
		require.False(t, lease.Valid())
		next := patient.Receive(t, got)
		require.NoError(t, next.Err)
		require.Less(t, time.Since(granted), most+time.Second)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrMaxHold)
		bubble.GiveBack(t, next.Lease)

		err := locks.Do(t.Context(), mutex, func(ctx context.Context, _ locks.Token) error {
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, locks.ErrMaxHold)
		require.NotErrorIs(t, err, context.Canceled, "nobody has cancelled it")
		require.True(t, locks.MayPass(err))

		patient.Cycle(t, mutex) // a hold that ends before leaves nothing behind
		time.Sleep(2 * most)
		_, err = client.Mutex("/hold", locks.WithMaxHold(-1)).Lock(t.Context())
		require.ErrorIs(t, err, locks.ErrBadAcquire)
	})
}

// TestRelease returns at once, and Unlock says whether the node is gone.
func TestRelease(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		lease := patient.Locked(t, client.Mutex("/release").Lock)
		lease.Release()
		lease.Release()
		require.False(t, lease.Valid())
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		patient.GiveBack(t, lease)
		requireNotHeld(t, lease)
		leases, err := locks.All(patient.Deadline(t), client.Mutex("/a"), client.Mutex("/b"))
		require.NoError(t, err)
		leases.Release()
		for _, path := range []string{"/a", "/b"} {
			patient.Cycle(t, other.Mutex(path))
		}
		require.NoError(t, leases.Unlock(patient.Deadline(t)))
	})
}

// TestTryOfEachKind: a lock that is only tried is of the same kind as one that is waited for.
func TestTryOfEachKind(t *testing.T) {
	client := patient.Open(t, embedded.Run(t).Addr())
	rw := client.RWMutex("/kinds")
	for locker, mode := range map[locks.Locker]messages.Mode{
		locks.Try(rw): messages.Write, locks.Try(rw.Reader()): messages.Read, locks.Try(client.Mutex("/kinds")): messages.Exclusive,
	} {
		lease := patient.Locked(t, locker.Lock)
		queue := patient.QueueOf(t, client, "/kinds")
		require.Len(t, queue, 1)
		require.Equal(t, mode, queue[0].Mode)
		patient.GiveBack(t, lease)
	}
}
