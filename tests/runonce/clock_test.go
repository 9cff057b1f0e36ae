package runonce

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// shiftedClock is the clock of servers that shows another time than the clients' clocks do.
type shiftedClock struct{ ahead atomic.Int64 }

func (c *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *shiftedClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// TestServersClock: a period, to the millisecond, and the lateness of an instant are measured by the servers' clock, whether
// it is behind the clients' clocks, the same, or ahead of them.
func TestServersClock(t *testing.T) {
	for _, ahead := range []time.Duration{-5 * time.Hour, 0, 7 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock := &shiftedClock{}
			clock.ahead.Store(int64(ahead))
			server := scene.Virtual(t, embedded.WithClock(clock))
			mine, other, c := scene.Client(t, server), scene.Client(t, server), &counted{}
			first := once(t, locks.OnceRan, mine, time.Hour, c)
			require.Equal(t, clock.Now().UnixMilli(), first.Mark.Began.UnixMilli())
			time.Sleep(time.Hour - time.Millisecond)
			next := once(t, locks.OnceNotDue, other, time.Hour, c)
			require.Equal(t, time.Millisecond, next.Left)
			require.Equal(t, first.Mark, next.Mark)
			time.Sleep(time.Millisecond)
			once(t, locks.OnceRan, other, time.Hour, c)

			at, inTime := clock.Now(), locks.WithStartDeadline(time.Hour)
			cameTo(t, locks.OnceRan, mine, at.Add(59*time.Second), c, inTime) // by a replica whose clock is ahead
			cameTo(t, locks.OnceAlreadyRan, other, at.Add(59*time.Second), c, inTime)
			time.Sleep(2*time.Hour + time.Minute)
			cameTo(t, locks.OnceAlreadyRan, other, at.Add(59*time.Second), c, inTime)
			now := clock.Now()
			require.False(t, locks.MayPass(notRunFor(t, locks.OnceTooLate, other, now.Add(-time.Hour-time.Second), inTime)))
			cameTo(t, locks.OnceRan, other, now.Add(-time.Hour+time.Second), c, inTime)
			got, err := onceFor(t, mine, now.Add(2*time.Hour), c, inTime)
			require.ErrorIs(t, err, locks.ErrNotRun)
			require.True(t, locks.MayPass(err))
			require.Equal(t, locks.OnceNotDue, got.Outcome)
			require.InDelta(t, 2*time.Hour, got.Left, float64(time.Second))
			require.Equal(t, locks.MarkDone, got.Mark.State, "that of the last run")
		})
	}
}

// TestClientsClocksChangeNothing: while the servers' clock stands still nothing becomes due, and
// when it is set on by an hour an hour has passed, whatever time the clients have measured. A clock
// that is set back counts as standing still.
func TestClientsClocksChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &shiftedClock{}
		server := scene.Virtual(t, embedded.WithClock(clock))
		client := scene.Client(t, server)
		c := &counted{}
		once(t, locks.OnceRan, client, time.Hour, c)
		for range 3 {
			time.Sleep(time.Hour)
			clock.ahead.Add(-int64(time.Hour))
			require.Equal(t, time.Hour, once(t, locks.OnceNotDue, client, time.Hour, c).Left)
		}
		clock.ahead.Add(-int64(time.Minute))
		require.Equal(t, time.Hour, once(t, locks.OnceNotDue, client, time.Hour, c).Left)
		clock.ahead.Add(int64(time.Minute + time.Hour))
		once(t, locks.OnceRan, client, time.Hour, c)
	})
}

// TestPeriodBeginsWithTheWork, and the time of WithRetryAfter with its end.
func TestPeriodBeginsWithTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, retries := scene.Client(t, scene.Virtual(t)), locks.WithRetryAfter(time.Minute)
		var fails error
		slow := func(context.Context, locks.Token) error { time.Sleep(40 * time.Minute); return fails }
		got, err := locks.RunOnce(t.Context(), client, jobKey, time.Hour, slow)
		require.NoError(t, err)
		require.Equal(t, 40*time.Minute, got.Mark.Written.Sub(got.Mark.Began))
		require.Equal(t, 20*time.Minute, once(t, locks.OnceNotDue, client, time.Hour, &counted{}).Left)
		fails = scene.ErrOfWork
		_, err = locks.RunOnce(t.Context(), client, jobKey, 0, slow, retries)
		require.Equal(t, fails, err)
		time.Sleep(59 * time.Second)
		require.Equal(t, time.Second, once(t, locks.OnceNotDue, client, 0, &counted{}, retries).Left)
		time.Sleep(time.Second)
		once(t, locks.OnceRan, client, 0, &counted{}, retries)
	})
}

// TestClockWasAhead: the mark of a run by a clock that was ahead is named, with what to do. It does
// not refuse each instant until that time as superseded, nor does it count as a run of this period.
// When the outcome of the check of the lock is unknown, that is the error, and the mark is not
// mentioned.
func TestClockWasAhead(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, clock *shiftedClock, client *locks.Client){
		"for an instant": func(t *testing.T, clock *shiftedClock, client *locks.Client) {
			cameTo(t, locks.OnceRan, client, clock.Now(), &counted{})
		},
		"in a period": func(t *testing.T, _ *shiftedClock, client *locks.Client) {
			once(t, locks.OnceRan, client, time.Hour, &counted{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &shiftedClock{}
				server := scene.Virtual(t, embedded.WithClock(clock))
				client := scene.Client(t, server)
				clock.ahead.Store(int64(1000 * time.Hour))
				run(t, clock, client)
				clock.ahead.Store(0)
				const ahead = "ahead of the servers' clock: delete /job/ran if that clock was wrong"
				for _, ask := range []func() (locks.Once, error){
					func() (locks.Once, error) { return onceFor(t, client, clock.Now(), &counted{}) },
					func() (locks.Once, error) {
						return locks.RunOnce(t.Context(), client, jobKey, time.Hour, (&counted{}).work)
					},
				} {
					got, err := ask()
					require.ErrorIs(t, err, locks.ErrFailed)
					require.ErrorContains(t, err, ahead)
					require.Empty(t, got.Outcome)
					_, err = server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: jobMark, Action: embedded.ExpireBefore})
					require.NoError(t, err)
					got, err = ask()
					require.ErrorIs(t, err, locks.ErrUnknownOutcome)
					require.NotContains(t, err.Error(), ahead)
					require.Zero(t, got)
				}
				lease := scene.Locked(t, client.Mutex("/setup").Lock)
				_, err := lease.Txn(t.Context(), locks.Delete(jobMark, locks.AnyVersion))
				require.NoError(t, err)
				scene.GiveBack(t, lease)
				cameTo(t, locks.OnceRan, client, clock.Now(), &counted{})
			})
		})
	}
}

// TestRunOnceForOutlivesTheDead: a client dies with the lock before any run for an instant is marked. All replicas wait for
// the end of its session. One runs the instant, and the others are told so. A lock that lives on is waited for in vain,
// and for two session timeouts.
func TestRunOnceForOutlivesTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		network := &scene.Network{Server: server}
		mine := scene.ClientOver(t, server, network)
		scene.Locked(t, mine.Mutex(jobKey).Lock)
		network.Be(scene.Down)
		at, outcomes := time.Now(), make(chan locks.OnceOutcome, 3)
		var other *locks.Client
		for range cap(outcomes) {
			other = scene.Client(t, server)
			go func(client *locks.Client) {
				got, err := locks.RunOnceFor(t.Context(), client, jobKey, at, (&counted{}).work)
				assert.NoError(t, err)
				outcomes <- got.Outcome
			}(other)
		}
		ran := 0
		for range cap(outcomes) {
			if outcome := <-outcomes; outcome == locks.OnceRan {
				ran++
			} else {
				require.Contains(t, []locks.OnceOutcome{locks.OnceBusy, locks.OnceAlreadyRan}, outcome)
			}
		}
		require.Equal(t, 1, ran)
		require.InDelta(t, 10*time.Second, time.Since(at), float64(3*time.Second))

		network.Be(scene.Up)
		lease := scene.Locked(t, mine.Mutex(jobKey).Lock)
		began := time.Now()
		err := notRunFor(t, locks.OnceBusy, other, at.Add(2*time.Second))
		require.True(t, locks.MayPass(err))
		require.ErrorContains(t, err, "behind "+lease.Node())
		require.InDelta(t, 20*time.Second, time.Since(began), float64(2*time.Second))
		scene.GiveBack(t, lease)
	})
}
