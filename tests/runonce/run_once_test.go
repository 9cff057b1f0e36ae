package runonce

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// jobKey is the key of a job, and jobMark where its mark is.
const (
	jobKey  = "/job"
	jobMark = jobKey + "/ran"
)

// unmarked stands for a mark that is not there.
var unmarked = scene.Written{Data: "", Version: 0}

// counted is work that counts how often it is called, and returns an error.
type counted struct {
	calls int
	token locks.Token
	err   error
}

func (c *counted) work(_ context.Context, token locks.Token) error {
	c.calls++
	c.token = token
	return c.err
}

// once runs a job without an error, and finds its outcome: the work is called where it says so.
func once(t *testing.T, want locks.OnceOutcome, client *locks.Client, period time.Duration, c *counted,
	opts ...locks.OnceOption) locks.Once {
	t.Helper()
	calls := c.calls
	got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, period, c.work, opts...)
	require.NoError(t, err)
	require.Equal(t, want, got.Outcome)
	require.Equal(t, want == locks.OnceRan, c.calls > calls)
	return got
}

// TestRunOnce: a caller within the period is told who ran and when, and a later one runs.
func TestRunOnce(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		mine, theirs := &counted{}, &counted{}
		first := once(t, locks.OnceRan, client, time.Hour, mine, locks.WithLabel("a label"))
		host, err := os.Hostname()
		require.NoError(t, err)
		require.Equal(t, locks.Mark{State: locks.MarkDone, Host: host, PID: os.Getpid(), Label: "a label", Token: mine.token,
			Began: first.Mark.Began, Written: first.Mark.Written}, first.Mark)
		require.False(t, first.Mark.Written.Before(first.Mark.Began))
		require.Less(t, time.Since(first.Mark.Began).Abs(), time.Hour)

		for range 3 {
			later := once(t, locks.OnceNotDue, other, time.Hour, theirs)
			require.Equal(t, first.Mark, later.Mark)
			require.Positive(t, later.Left)
			require.LessOrEqual(t, later.Left, time.Hour)
		}
		once(t, locks.OnceRan, other, 0, theirs)
		require.Greater(t, theirs.token, mine.token)
		require.Equal(t, theirs.token, once(t, locks.OnceNotDue, client, time.Hour, mine).Mark.Token)
		require.Equal(t, []int{1, 1}, []int{mine.calls, theirs.calls})
		require.Equal(t, int32(2), zk.Read(t, jobMark).Version)
		require.Empty(t, scene.QueueOf(t, client, jobKey))

		conn := zk.Raw(t) // as the clean-up reads it
		for _, name := range append(zk.Children(t, conn, jobKey), "") {
			path := zk.Root() + jobKey
			if name != "" {
				path += "/" + name
			}
			require.NoError(t, conn.Delete(path, -1))
		}
		once(t, locks.OnceRan, client, time.Hour, mine)
	})
}

// TestRunOnceFails: there is no mark, and the next to come runs.
func TestRunOnceFails(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		fails, works := &counted{err: scene.ErrOfWork}, &counted{}
		for range 2 {
			got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour, fails.work)
			require.Equal(t, scene.ErrOfWork, err)
			require.Equal(t, locks.Once{Outcome: locks.OnceRan, Mark: locks.Mark{State: locks.MarkNone}}, got)
			require.Equal(t, "nobody", got.Mark.String())
			require.Equal(t, unmarked, zk.Read(t, jobMark))
		}
		require.PanicsWithValue(t, "work", func() {
			_, _ = locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour,
				func(context.Context, locks.Token) error { panic("work") })
		})
		gone, leave := context.WithCancelCause(scene.Deadline(t))
		left := errors.New("the caller has left")
		_, err := locks.RunOnce(gone, client, jobKey, time.Hour, func(ctx context.Context, _ locks.Token) error {
			leave(left)
			<-ctx.Done()
			return context.Cause(ctx)
		}, locks.WithWaiting())
		require.ErrorIs(t, err, left)
		require.Equal(t, unmarked, zk.Read(t, jobMark))

		gone, leave = context.WithCancelCause(scene.Deadline(t))
		got, err := locks.RunOnce(gone, client, jobKey, time.Hour, func(context.Context, locks.Token) error {
			leave(left) // and has done its work all the same
			return nil
		}, locks.WithWaiting())
		require.NoError(t, err)
		require.Equal(t, locks.MarkDone, got.Mark.State)
		once(t, locks.OnceNotDue, client, time.Hour, works)
		_, err = locks.RunOnce(gone, client, jobKey, time.Hour, works.work)
		require.ErrorIs(t, err, left)
		require.Zero(t, works.calls)
	})
}

// TestRunOnceIsBusy: a caller that finds a run under way leaves, and is told who runs; or it waits,
// and runs if the first run fails.
func TestRunOnceIsBusy(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"and works": nil, "and fails": scene.ErrOfWork} {
		t.Run(name, func(t *testing.T) {
			scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
				client, other := zk.Open(t), zk.Open(t)
				type answer struct {
					once locks.Once
					err  error
				}
				waits := make(chan answer, 1)
				waiting := &counted{}
				var token locks.Token
				_, err := locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour,
					func(ctx context.Context, mine locks.Token) error {
						token = mine
						busy := once(t, locks.OnceBusy, other, 0, &counted{})
						require.Equal(t, os.Getpid(), busy.Holder.PID)
						require.Equal(t, token, busy.Holder.Token)
						require.Zero(t, busy.Mark)
						require.Equal(t, "not read", busy.Mark.String())
						_, err := locks.RunOnce(ctx, client, jobKey, 0, waiting.work)
						require.ErrorIs(t, err, locks.ErrReentry)
						go func() {
							got, err := locks.RunOnce(scene.Deadline(t), other, jobKey, time.Hour, waiting.work, locks.WithWaiting())
							waits <- answer{got, err}
						}()
						scene.Eventually(t, func() bool { return len(scene.QueueOf(t, client, jobKey)) == 2 }, "nobody waits")
						return fails
					})
				require.ErrorIs(t, err, fails)
				a := <-waits
				require.NoError(t, a.err)
				if fails == nil {
					require.Equal(t, locks.OnceNotDue, a.once.Outcome)
					require.Equal(t, token, a.once.Mark.Token)
					require.Zero(t, waiting.calls)
				} else {
					require.Equal(t, locks.OnceRan, a.once.Outcome)
					require.Greater(t, a.once.Mark.Token, token)
				}
			})
		})
	}
}

// TestMarkFirst: after a failure nobody else runs within the period.
func TestMarkFirst(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour,
			func(ctx context.Context, _ locks.Token) error {
				require.Contains(t, zk.Read(t, jobMark).Data, `"run":"begun"`)
				require.ErrorIs(t, locks.AckWith(ctx, locks.Create("/x", nil)), locks.ErrBadAcquire)
				return scene.ErrOfWork
			}, locks.WithMarkFirst())
		require.Equal(t, scene.ErrOfWork, err)
		require.Equal(t, locks.OnceRan, got.Outcome)
		require.Equal(t, locks.MarkBegun, got.Mark.State)
		for _, opts := range [][]locks.OnceOption{nil, {locks.WithMarkFirst()}} {
			require.Equal(t, got.Mark, once(t, locks.OnceNotDue, client, time.Hour, &counted{}, opts...).Mark)
		}
		once(t, locks.OnceRan, client, 0, &counted{}, locks.WithMarkFirst())
	})
}

// TestRetryAfter: no caller runs the work again before its own WithRetryAfter is over.
func TestRetryAfter(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		fails, works := &counted{err: scene.ErrOfWork}, &counted{}
		got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour, fails.work,
			locks.WithRetryAfter(time.Minute))
		require.Equal(t, scene.ErrOfWork, err)
		require.Equal(t, locks.MarkFailed, got.Mark.State)
		require.Equal(t, got.Mark, once(t, locks.OnceNotDue, client, 0, works, locks.WithRetryAfter(time.Hour)).Mark)
		once(t, locks.OnceRan, client, time.Hour, works) // who names no time does not wait
		once(t, locks.OnceNotDue, client, time.Hour, works, locks.WithRetryAfter(0))
	})
}

// TestAckWith: what the work has to write is written with the mark, or neither is.
func TestAckWith(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		job := func(ctx context.Context, _ locks.Token) error {
			require.NoError(t, locks.AckWith(ctx, locks.Create("/result", []byte("done"))))
			require.Equal(t, scene.Absent, zk.Read(t, "/result"))
			return locks.AckWith(ctx, locks.Create("/other", nil))
		}
		zk.Write(t, "/other", "is there")
		got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour, job)
		require.ErrorIs(t, err, zkconn.ErrNodeExists)
		require.Equal(t, locks.Once{Outcome: locks.OnceRan, Mark: locks.Mark{State: locks.MarkNone}}, got)
		require.Equal(t, []scene.Written{scene.Absent, unmarked},
			[]scene.Written{zk.Read(t, "/result"), zk.Read(t, jobMark)})
		require.NoError(t, zk.Raw(t).Delete(zk.Root()+"/other", -1))
		got, err = locks.RunOnce(scene.Deadline(t), client, jobKey, time.Hour, job)
		require.NoError(t, err)
		require.Equal(t, locks.MarkDone, got.Mark.State)
		require.Equal(t, scene.Written{Data: "done", Version: 0}, zk.Read(t, "/result"))
		require.ErrorIs(t, locks.AckWith(scene.Deadline(t), locks.Create("/x", nil)), locks.ErrBadAcquire)
		got, err = locks.RunOnceFor(scene.Deadline(t), client, jobKey, time.Now(), func(ctx context.Context, _ locks.Token) error {
			require.Contains(t, zk.Read(t, jobMark).Data, `"run":"begun"`)
			return locks.AckWith(ctx, locks.Create("/result", nil))
		})
		require.ErrorIs(t, err, zkconn.ErrNodeExists)
		require.Equal(t, []any{locks.OnceRan, locks.MarkBegun}, []any{got.Outcome, got.Mark.State})
	})
}
