package runonce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// today is the day when the tests begin: they may run past midnight.
var today = time.Now().UTC().Truncate(24 * time.Hour)

// night gives the n-th of some nights, all of which are over.
func night(n int) time.Time { return today.AddDate(0, 0, n-10).Add(2 * time.Hour) }

// onceFor runs a job for an instant, and checks that Outcome says whether the work was called.
func onceFor(t *testing.T, client *locks.Client, at time.Time, c *counted, opts ...locks.InstantOption) (locks.Once, error) {
	t.Helper()
	calls := c.calls
	got, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, at, c.work, opts...)
	require.Equal(t, got.Outcome == locks.OnceRan, c.calls > calls)
	return got, err
}

// cameTo is onceFor without an error, and with an outcome.
func cameTo(t *testing.T, want locks.OnceOutcome, client *locks.Client, at time.Time, c *counted, opts ...locks.InstantOption) locks.Once {
	t.Helper()
	got, err := onceFor(t, client, at, c, opts...)
	require.NoError(t, err)
	require.Equal(t, want, got.Outcome)
	return got
}

// notRunFor is onceFor that says that nobody runs the work for an instant.
func notRunFor(t *testing.T, want locks.OnceOutcome, client *locks.Client, at time.Time, opts ...locks.InstantOption) error {
	t.Helper()
	got, err := onceFor(t, client, at, &counted{}, opts...)
	require.ErrorIs(t, err, locks.ErrNotRun)
	require.Equal(t, want, got.Outcome)
	return err
}

// TestRunOnceFor: the first of three replicas runs, however fast the work is and however late the
// others come. The instant is the key, in any time zone. A newer one is run, and an older one is
// refused after that.
func TestRunOnceFor(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		replicas := []*locks.Client{zk.Open(t), zk.Open(t),
			zk.Open(t)}
		c := &counted{}
		first := cameTo(t, locks.OnceRan, replicas[0], night(1), c, locks.WithLabel("a label"))
		host, err := os.Hostname()
		require.NoError(t, err)
		require.Equal(t, locks.MarkDone, first.Mark.State)
		require.Equal(t, []any{host, os.Getpid(), "a label", c.token, night(1)},
			[]any{first.Mark.Host, first.Mark.PID, first.Mark.Label, first.Mark.Token, first.Mark.For})
		require.Contains(t, zk.Read(t, jobMark).Data, `"for":"`+night(1).Format(time.RFC3339)+`"`)
		require.Equal(t, int32(2), zk.Read(t, jobMark).Version, "begun and done")
		zone := time.FixedZone("elsewhere", 5*3600+1800)
		for _, same := range []time.Time{night(1), night(1).In(zone), night(1).Local()} {
			for _, client := range replicas {
				later := cameTo(t, locks.OnceAlreadyRan, client, same, c)
				require.Equal(t, first.Mark, later.Mark)
			}
		}
		require.Equal(t, 1, c.calls)

		cameTo(t, locks.OnceRan, replicas[1], night(2), c)
		err = notRunFor(t, locks.OnceSuperseded, replicas[0], night(1))
		require.False(t, locks.MayPass(err))
		require.ErrorContains(t, err, "for "+night(1).Format(time.RFC3339))
		require.ErrorContains(t, err, "the newest run is done at ")
		cameTo(t, locks.OnceAlreadyRan, replicas[2], night(2), c)

		now := time.Now() // with the reading of a monotonic clock, and nanoseconds
		got := cameTo(t, locks.OnceRan, replicas[0], now, c)
		require.True(t, got.Mark.For.Equal(now))
		require.Equal(t, got.Mark, cameTo(t, locks.OnceAlreadyRan, replicas[1], now.Round(0).In(zone), c).Mark)
		cameTo(t, locks.OnceRan, replicas[1], now.Add(time.Nanosecond), c)
		require.Empty(t, scene.QueueOf(t, replicas[0], jobKey))
	})
}

// TestRunOnceForFails: an instant that failed has had its run. WithRetryAfter asks for a second
// one, and a run by hand moves nothing of the schedule.
func TestRunOnceForFails(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		fails, works := &counted{err: scene.ErrOfWork}, &counted{}
		got, err := onceFor(t, client, night(1), fails)
		require.Equal(t, scene.ErrOfWork, err)
		require.Equal(t, []any{locks.OnceRan, locks.MarkFailed}, []any{got.Outcome, got.Mark.State})
		require.Equal(t, got.Mark, cameTo(t, locks.OnceAlreadyRan, other, night(1), works).Mark)

		later := cameTo(t, locks.OnceNotDue, other, night(1), works, locks.WithRetryAfter(time.Hour))
		require.Positive(t, later.Left)
		require.Equal(t, got.Mark, later.Mark)
		cameTo(t, locks.OnceRan, other, night(1), works, locks.WithRetryAfter(0)) // by hand, at noon
		cameTo(t, locks.OnceAlreadyRan, client, night(1), works, locks.WithRetryAfter(0))
		cameTo(t, locks.OnceRan, client, night(2), works)

		require.PanicsWithValue(t, "work", func() {
			_, _ = locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(3),
				func(context.Context, locks.Token) error { panic("work") })
		})
		require.Equal(t, locks.MarkBegun, cameTo(t, locks.OnceAlreadyRan, other, night(3), works, locks.WithWaiting()).Mark.State)
		cameTo(t, locks.OnceRan, other, night(3), works, locks.WithRetryAfter(time.Hour))

		gone, leave := context.WithCancelCause(scene.Deadline(t))
		left := errors.New("the caller has left")
		_, err = locks.RunOnceFor(gone, client, jobKey, night(4), func(ctx context.Context, _ locks.Token) error {
			leave(left)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, left)
		require.Equal(t, locks.MarkBegun, cameTo(t, locks.OnceAlreadyRan, other, night(4), works).Mark.State)
		cameTo(t, locks.OnceRan, other, night(4), works, locks.WithRetryAfter(time.Hour))
	})
}

// TestRunOnceForIsBusy: a caller that comes while the work runs is told for which instant it runs,
// and whether that leaves its own without a run.
func TestRunOnceForIsBusy(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		waits := make(chan locks.Once, 1)
		_, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(2),
			func(ctx context.Context, token locks.Token) error {
				same := cameTo(t, locks.OnceBusy, other, night(2), &counted{})
				require.Equal(t, []locks.Token{token, token}, []locks.Token{same.Mark.Token, same.Holder.Token})
				require.Equal(t, locks.MarkBegun, same.Mark.State)
				overlap := notRunFor(t, locks.OnceBusy, other, night(3))
				require.True(t, locks.MayPass(overlap))
				require.ErrorContains(t, overlap, "the run for "+night(2).Format(time.RFC3339)+" is still going")
				require.False(t, locks.MayPass(notRunFor(t, locks.OnceSuperseded, other, night(1))))
				go func() {
					once, err := locks.RunOnceFor(scene.Deadline(t), other, jobKey, night(3), (&counted{}).work, locks.WithWaiting())
					if err != nil {
						t.Error(err)
					}
					waits <- once
				}()
				scene.Eventually(t, func() bool { return len(scene.QueueOf(t, client, jobKey)) == 2 }, "nobody waits")
				return nil
			})
		require.NoError(t, err)
		got := <-waits
		require.Equal(t, locks.OnceRan, got.Outcome)
		require.Equal(t, night(3), got.Mark.For)
	})
}

// TestRunOnceForWaitsForTheLock: a lock that is held without a run says nothing of the instant. The caller waits for it,
// or is told that nobody has run. An instant that somebody has run needs no lock.
func TestRunOnceForWaitsForTheLock(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		ran := cameTo(t, locks.OnceRan, client, night(3), &counted{})
		lease := scene.Locked(t, client.Mutex(jobKey).Lock)
		require.Equal(t, locks.Once{Outcome: locks.OnceAlreadyRan, Mark: ran.Mark},
			cameTo(t, locks.OnceAlreadyRan, other, night(3), &counted{}))

		var busy locks.Once
		var err error
		for patience := 300 * time.Millisecond; busy.Holder.Token == 0; patience *= 2 { // until it is long enough to see the holder
			require.Less(t, patience, scene.Bound, "it never sees the holder")
			gone, leave := context.WithTimeout(scene.Deadline(t), patience)
			busy, err = locks.RunOnceFor(gone, other, jobKey, night(4), (&counted{}).work)
			leave()
			require.Error(t, err)
		}
		require.ErrorIs(t, err, locks.ErrNotRun)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, locks.MayPass(err))
		require.ErrorContains(t, err, "behind "+lease.Node())
		require.Equal(t, locks.OnceBusy, busy.Outcome)
		require.Equal(t, []any{lease.Token(), ran.Mark}, []any{busy.Holder.Token, busy.Mark})

		waits := make(chan locks.Once, 1)
		go func() {
			once, err := locks.RunOnceFor(scene.Deadline(t), other, jobKey, night(4), (&counted{}).work)
			if err != nil {
				t.Error(err)
			}
			waits <- once
		}()
		scene.GiveBack(t, lease)
		require.Equal(t, locks.OnceRan, (<-waits).Outcome)
	})
}

// TestRunOnceRefuses what is not well formed, before anything is sent, and what is not a mark. Package locks has the options.
func TestRunOnceRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, c, day := scene.Client(t, scene.Virtual(t)), &counted{}, time.Now()
		for _, at := range []time.Time{{}, day.AddDate(9000, 0, 0), day.AddDate(-3000, 0, 0)} {
			_, err := locks.RunOnceFor(t.Context(), client, jobKey, at, c.work)
			require.ErrorIs(t, err, locks.ErrBadAcquire, at)
		}
		_, err := locks.RunOnce(t.Context(), client, jobKey, -1, c.work)
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		_, err = locks.RunOnce(t.Context(), client, jobKey, 0, c.work, locks.WithRetryAfter(-1))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		got, err := locks.RunOnceFor(t.Context(), client, jobKey, day, c.work, locks.WithStartDeadline(-1))
		require.ErrorIs(t, err, locks.ErrBadAcquire)
		require.Zero(t, got)
		lease := scene.Locked(t, client.Mutex("/setup").Lock)
		_, _, err = lease.Get(t.Context(), jobKey)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		_, err = lease.Txn(t.Context(), locks.Create(jobKey, nil), locks.Create(jobMark, []byte("of another program")))
		require.NoError(t, err)
		for name, w := range ways {
			_, err = w.run(t.Context(), client, day, c.work)
			require.ErrorIs(t, err, locks.ErrFailed, name)
			require.ErrorContains(t, err, "of another program")
		}
		data, _, err := lease.Get(t.Context(), jobMark)
		require.NoError(t, err)
		require.Equal(t, "of another program", string(data))
		require.Zero(t, c.calls)
		require.Zero(t, locks.InstantOf(t.Context()))
	})
}

// TestMarksOfRunOnce: a mark without an instant stands for all instants up to its begin, unless the run failed.
func TestMarksOfRunOnce(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, conn := zk.Open(t), zk.Raw(t)
		zk.Write(t, jobKey, "")
		zk.Write(t, jobMark, "")
		began := night(2).Add(time.Second)
		for _, state := range []string{"done", "begun", "failed"} {
			mark := fmt.Sprintf(`{"run":%q,"host":"web2","pid":4711,"token":7,"began":%d}`, state, began.UnixMilli())
			for at, ran := range map[time.Time]bool{night(1): true, night(2): true, night(3): false} {
				_, err := conn.Set(zk.Root()+jobMark, []byte(mark), -1)
				require.NoError(t, err)
				if ran && state != "failed" {
					got := cameTo(t, locks.OnceAlreadyRan, client, at, &counted{})
					require.Equal(t, []any{"web2", 4711, locks.Token(7), locks.MarkState(state)},
						[]any{got.Mark.Host, got.Mark.PID, got.Mark.Token, got.Mark.State})
					require.True(t, got.Mark.Began.Equal(began))
					require.Zero(t, got.Mark.For)
				} else {
					cameTo(t, locks.OnceRan, client, at, &counted{})
				}
			}
		}
		cameTo(t, locks.OnceRan, client, night(4), &counted{})
		once(t, locks.OnceNotDue, client, time.Hour, &counted{})
		once(t, locks.OnceRan, client, 0, &counted{})
	})
}
