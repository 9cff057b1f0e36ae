package refusals

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

var errShift = errors.New("the shift is over")

// TestErrorsAreOneLine: also where several things are said, so that a log record is one.
func TestErrorsAreOneLine(t *testing.T) {
	client := scene.Open(t, embedded.Run(t).Addr())
	lease := scene.Locked(t, client.Mutex("/a").Lock)
	ctx, cancel := context.WithTimeoutCause(scene.Deadline(t), time.Millisecond, errShift)
	defer cancel()
	<-ctx.Done()
	_, err := client.Mutex("/a").Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, errShift)
	require.NotContains(t, err.Error(), "\n")

	require.NoError(t, client.Close(scene.Deadline(t)))
	err = lease.Unlock(scene.Deadline(t)) // lost, because closed
	require.ErrorIs(t, err, locks.ErrLost)
	require.ErrorIs(t, err, locks.ErrClosed)
	require.NotContains(t, err.Error(), "\n")

	joined := &locks.Error{Op: "lock", Path: "/a", Err: errors.Join(errShift, locks.ErrLost)}
	require.Equal(t, "turnstile: lock /a: the shift is over; the lock was lost", joined.Error())
}

// TestBusyIsTold: a Lock that has waited for a second, and is given up then, knows what the node of the one before it says,
// in every kind of lock, in another session or in this one. A handler tells a busy lock from servers that are out of reach
// by that.
func TestBusyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, label, cohort := scene.Virtual(t), locks.WithLabel("nightly run"), locks.WithCohort(9)
		client, other := scene.Client(t, server), scene.Client(t, server)
		const all = "watching all" // data are not read
		for name, c := range map[string]struct{ holder, waiter locks.Locker }{
			"mutex":        {other.Mutex("/a", label), client.Mutex("/a")},
			"this session": {client.Mutex("/b", label), client.Mutex("/b")},
			"a cohort":     {client.Mutex("/c", label, cohort), client.Mutex("/c", cohort)},
			"contest":      {other.Contest("/d", label), client.Contest("/d")},
			"reader":       {other.RWMutex("/e", label), client.RWMutex("/e").Reader()},
			"writer":       {other.RWMutex("/f", label).Reader(), client.RWMutex("/f")},
			"permit":       {other.Semaphore("/g", 2, label).Weight(2), client.Semaphore("/g", 2).Weight(1)},
			all:            {other.Mutex("/h", label), client.Mutex("/h", locks.WithWatchAll())},
		} {
			held := scene.Locked(t, c.holder.Lock)
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				_, err := c.waiter.Lock(ctx)
				cancel()
				var e *locks.Error
				require.ErrorAs(t, err, &e, name)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, messages.StateWatching, e.State)
				require.Equal(t, held.Node(), e.Behind.Node)
				if name != all {
					require.Equal(t, "nightly run", e.Behind.Label)
					require.NotEmpty(t, e.Behind.Host)
				}
			}
			scene.GiveBack(t, held)
		}
	})
}

// TestBadOptions: Open refuses them before anything is sent. Package zkconn has the others.
func TestBadOptions(t *testing.T) {
	for _, opt := range []locks.Option{locks.WithSessionTimeout(0), locks.WithServerTick(0), locks.WithSuspendedTime(nil)} {
		_, err := locks.Open(t.Context(), "127.0.0.1:1", opt)
		require.ErrorIs(t, err, zkconn.ErrBadConfig)
	}
}

// TestErrorsLeaveOutWhatIsNot: a request that never was one has no state and, of several locks, no
// path.
func TestErrorsLeaveOutWhatIsNot(t *testing.T) {
	_, err := locks.All(scene.Deadline(t))
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.ErrorContains(t, err, "turnstile: lock all: ")
	require.NotContains(t, err.Error(), "(none)")
}
