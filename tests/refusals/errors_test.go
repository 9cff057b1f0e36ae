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
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

var errShift = errors.New("the shift is over")

// TestErrorsAreOneLine: also where several things are said, so that a log record is one.
func TestErrorsAreOneLine(t *testing.T) {
	client := patient.Open(t, embedded.Run(t).Addr())
	lease := patient.Locked(t, client.Mutex("/a").Lock)
	ctx, cancel := context.WithTimeoutCause(patient.Deadline(t), time.Millisecond, errShift)
	defer cancel()
	<-ctx.Done()
	_, err := client.Mutex("/a").Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, errShift)
	require.NotContains(t, err.Error(), "\n")

	require.NoError(t, client.Close(patient.Deadline(t)))
	err = lease.Unlock(patient.Deadline(t)) // lost, because closed
	require.ErrorIs(t, err, locks.ErrLost)
	require.ErrorIs(t, err, locks.ErrClosed)
	require.NotContains(t, err.Error(), "\n")

	joined := &locks.Error{Op: "lock", Path: "/a", Err: errors.Join(errShift, locks.ErrLost)}
	require.Equal(t, "turnstile: lock /a: the shift is over; the lock was lost", joined.Error())
}

// TestErrorsSayWhereTheRequestStood: a Lock that times out says in which state it waited, and not
// that it gives up.
func TestErrorsSayWhereTheRequestStood(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		patient.Locked(t, client.Mutex("/a").Lock)
		mutex, rec := patient.Recorded(t, client, "/a")
		ctx, cancel := context.WithCancel(patient.Deadline(t))
		got := patient.Elsewhere(ctx, mutex.Lock)
		waiting := patient.Await(t, rec, messages.StateWatching)
		cancel()
		var e *locks.Error
		require.ErrorAs(t, (<-got).Err, &e)
		require.Equal(t, messages.StateWatching, e.State)
		require.Equal(t, waiting.Node, e.Node)
		require.ErrorContains(t, e, ", watching")
	})
}

// TestTimeoutsSayBehindWhom: of the one before it a Lock that is given up knows what its node says, in another session or
// in this one, by a queue, a cohort or a contest.
func TestTimeoutsSayBehindWhom(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, other := at.Open(t), at.Open(t)
		label := locks.WithLabel("nightly run")
		for name, c := range map[string]struct{ holder, waiter locks.Locker }{
			"another session": {other.Mutex("/a", label), client.Mutex("/a")},
			"this session":    {client.Mutex("/b", label), client.Mutex("/b")},
			"a cohort":        {client.Mutex("/c", label, locks.WithCohort(9)), client.Mutex("/c", locks.WithCohort(9))},
			"a contest":       {other.Contest("/d", label), client.Contest("/d")},
			"a reader":        {other.RWMutex("/e", label).Reader(), client.RWMutex("/e")},
			"a writer":        {other.RWMutex("/f", label), client.RWMutex("/f").Reader()},
			"a permit":        {other.Semaphore("/g", 2, label).Weight(2), client.Semaphore("/g", 2).Weight(1)},
		} {
			t.Run(name, func(t *testing.T) {
				patient.RequireBehind(t, c.holder, c.waiter)
			})
		}
	})
}

// TestBusyIsTold: a Lock that has waited for a second, and is given up then, knows the one before it, in every kind of lock.
// A handler tells a busy lock from servers that are out of reach by that.
func TestBusyIsTold(t *testing.T) {
	label, all := locks.WithLabel("nightly run"), locks.WithWatchAll()
	for name, c := range map[string]struct {
		holder, waiter func(*locks.Client) locks.Locker
		nodeOnly       bool // its data are not read
	}{
		"mutex": {func(c *locks.Client) locks.Locker { return c.Mutex("/busy", label) },
			func(c *locks.Client) locks.Locker { return c.Mutex("/busy") }, false},
		"reader": {func(c *locks.Client) locks.Locker { return c.RWMutex("/busy", label) },
			func(c *locks.Client) locks.Locker { return c.RWMutex("/busy").Reader() }, false},
		"writer": {func(c *locks.Client) locks.Locker { return c.RWMutex("/busy", label).Reader() },
			func(c *locks.Client) locks.Locker { return c.RWMutex("/busy") }, false},
		"permit": {func(c *locks.Client) locks.Locker { return c.Semaphore("/busy", 2, label).Weight(2) },
			func(c *locks.Client) locks.Locker { return c.Semaphore("/busy", 2).Weight(1) }, false},
		"contest": {func(c *locks.Client) locks.Locker { return c.Contest("/busy", label) },
			func(c *locks.Client) locks.Locker { return c.Contest("/busy") }, false},
		"watching all": {func(c *locks.Client) locks.Locker { return c.Mutex("/busy", label) },
			func(c *locks.Client) locks.Locker { return c.Mutex("/busy", all) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := bubble.Server(t)
				client, other := bubble.Client(t, server), bubble.Client(t, server)
				held, err := c.holder(other).Lock(t.Context())
				require.NoError(t, err)
				for range 3 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err = c.waiter(client).Lock(ctx)
					cancel()
					var e *locks.Error
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.Equal(t, held.Node(), e.Behind.Node)
					if !c.nodeOnly {
						require.Equal(t, "nightly run", e.Behind.Label)
						require.NotEmpty(t, e.Behind.Host)
					}
				}
				bubble.GiveBack(t, held)
			})
		})
	}
}

// TestErrorsLeaveOutWhatIsNot: a request that never was one has no state and, of several locks, no
// path.
func TestErrorsLeaveOutWhatIsNot(t *testing.T) {
	_, err := locks.All(patient.Deadline(t))
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.ErrorContains(t, err, "turnstile: lock all: ")
	require.NotContains(t, err.Error(), "(none)")
}
