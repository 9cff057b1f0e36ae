package runonce

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// shiftedClock is the clock of servers that shows another time than the clients' clocks do.
type shiftedClock struct{ ahead atomic.Int64 }

func (c *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *shiftedClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// atEachClock runs a test with servers whose clock is behind the clients' clocks, the same, or
// ahead of them. It has two clients.
func atEachClock(t *testing.T, test func(t *testing.T, clock *shiftedClock, mine, other *locks.Client)) {
	t.Helper()
	for name, ahead := range map[string]time.Duration{"behind": -5 * time.Hour, "together": 0, "ahead": 7 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &shiftedClock{}
				clock.ahead.Store(int64(ahead))
				server := bubble.Server(t, embedded.WithClock(clock))
				test(t, clock, bubble.Client(t, server), bubble.Client(t, server))
			})
		})
	}
}

// TestPeriodIsByTheServersClock: to the millisecond, with any clocks of clients.
func TestPeriodIsByTheServersClock(t *testing.T) {
	atEachClock(t, func(t *testing.T, clock *shiftedClock, mine, other *locks.Client) {
		c := &counted{}
		first := once(t, mine, time.Hour, c)
		require.Equal(t, locks.OnceRan, first.Outcome)
		require.Equal(t, clock.Now().UnixMilli(), first.Mark.Began.UnixMilli())
		time.Sleep(time.Hour - time.Millisecond)
		next := once(t, other, time.Hour, c)
		require.Equal(t, locks.OnceNotDue, next.Outcome)
		require.Equal(t, time.Millisecond, next.Left)
		require.Equal(t, first.Mark, next.Mark)
		time.Sleep(time.Millisecond)
		require.Equal(t, locks.OnceRan, once(t, other, time.Hour, c).Outcome)
		require.Equal(t, 2, c.calls)
	})
}

// TestClientsClocksChangeNothing: while the servers' clock stands still nothing becomes due, and
// when it is set on by an hour an hour has passed, whatever time the clients have measured. A clock
// that is set back counts as standing still.
func TestClientsClocksChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &shiftedClock{}
		server := bubble.Server(t, embedded.WithClock(clock))
		client := bubble.Client(t, server)
		c := &counted{}
		once(t, client, time.Hour, c)
		for range 3 {
			time.Sleep(time.Hour)
			clock.ahead.Add(-int64(time.Hour))
			got := once(t, client, time.Hour, c)
			require.Equal(t, locks.OnceNotDue, got.Outcome)
			require.Equal(t, time.Hour, got.Left)
		}
		clock.ahead.Add(-int64(time.Minute))
		require.Equal(t, time.Hour, once(t, client, time.Hour, c).Left)
		clock.ahead.Add(int64(time.Minute + time.Hour))
		require.Equal(t, locks.OnceRan, once(t, client, time.Hour, c).Outcome)
	})
}

// TestPeriodBeginsWithTheWork, and the time of WithRetryAfter with its end.
func TestPeriodBeginsWithTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		slow := &slowWork{counted{}, 40 * time.Minute}
		got, err := locks.RunOnce(t.Context(), client, jobKey, time.Hour, slow.work)
		require.NoError(t, err)
		require.Equal(t, slow.takes, got.Mark.Written.Sub(got.Mark.Began))
		require.Equal(t, 20*time.Minute, once(t, client, time.Hour, &counted{}).Left)
		slow.err = patient.ErrOfWork
		_, err = locks.RunOnce(t.Context(), client, jobKey, 0, slow.work, locks.WithRetryAfter(time.Minute))
		require.Equal(t, patient.ErrOfWork, err)
		time.Sleep(59 * time.Second)
		require.Equal(t, time.Second, once(t, client, 0, &counted{}, locks.WithRetryAfter(time.Minute)).Left)
		time.Sleep(time.Second)
		require.Equal(t, locks.OnceRan, once(t, client, 0, &counted{}, locks.WithRetryAfter(time.Minute)).Outcome)
	})
}

// TestInstantsAndTheServersClock: an instant is the same with any clocks of clients. Its lateness
// is measured by the servers' clock.
func TestInstantsAndTheServersClock(t *testing.T) {
	atEachClock(t, func(t *testing.T, clock *shiftedClock, mine, other *locks.Client) {
		c, at := &counted{}, clock.Now()
		inTime := locks.WithStartDeadline(time.Hour)
		cameTo(t, locks.OnceRan, mine, at.Add(59*time.Second), c, inTime) // by a replica whose clock is ahead
		cameTo(t, locks.OnceAlreadyRan, other, at.Add(59*time.Second), c, inTime)
		time.Sleep(2*time.Hour + time.Minute)
		cameTo(t, locks.OnceAlreadyRan, other, at.Add(59*time.Second), c, inTime)
		now := clock.Now()
		notRunFor(t, locks.OnceTooLate, other, now.Add(-time.Hour-time.Second), inTime)
		cameTo(t, locks.OnceRan, other, now.Add(-time.Hour+time.Second), c, inTime)
		got, err := onceFor(t, mine, now.Add(2*time.Hour), c, inTime)
		require.ErrorIs(t, err, locks.ErrNotRun)
		require.InDelta(t, 2*time.Hour, got.Left, float64(time.Second))
		require.Equal(t, 2, c.calls)
	})
}
