package runonce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestRunOnceLostBeforeItReads: a replica has asked for the time, and is cut off when it asks for the mark. Meanwhile
// an operator breaks its lock, and another replica runs the job, by a later clock or for a later instant. The mark
// that the first then reads is not taken for that of a wrong clock, or for one that has superseded its instant: it
// has lost the lock, and says so.
func TestRunOnceLostBeforeItReads(t *testing.T) {
	works := func(context.Context, locks.Token) error { return nil }
	for name, run := range map[string]func(ctx context.Context, client *locks.Client, at time.Time) (locks.Once, error){
		"RunOnce": func(ctx context.Context, client *locks.Client, _ time.Time) (locks.Once, error) {
			return locks.RunOnce(ctx, client, jobKey, time.Second, works)
		},
		"RunOnceFor": func(ctx context.Context, client *locks.Client, at time.Time) (locks.Once, error) {
			return locks.RunOnceFor(ctx, client, jobKey, at, works)
		},
	} {
		for what, ran := range map[string]string{"another has run": "", "a node that is no mark": "nonsense"} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := scene.Virtual(t)
					d := &scene.Network{Server: server}
					client, other := scene.ClientOver(t, server, d), scene.Client(t, server)
					_, err := run(t.Context(), client, time.Now())
					require.NoError(t, err)
					time.Sleep(time.Minute)

					reads, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: jobMark, Session: client.State().ID,
						Action: embedded.CutBefore})
					require.NoError(t, err)
					d.Refuse(true)
					type result struct {
						once locks.Once
						err  error
					}
					got := make(chan result, 1)
					go func() {
						once, err := run(t.Context(), client, time.Now())
						got <- result{once, err}
					}()
					require.NoError(t, reads.Wait(t.Context()))
					time.Sleep(1500 * time.Millisecond)
					queue, err := other.Queue(t.Context(), jobKey)
					require.NoError(t, err)
					require.Len(t, queue, 1)
					require.NoError(t, other.Break(t.Context(), queue[0]))
					second, err := run(t.Context(), other, time.Now())
					require.NoError(t, err)
					require.Equal(t, locks.OnceRan, second.Outcome)
					if ran != "" {
						require.NoError(t, locks.Do(t.Context(), other.Mutex(jobKey), func(ctx context.Context, _ locks.Token) error {
							_, err := locks.LeaseOf(ctx).Txn(ctx, locks.Set(jobMark, []byte(ran), locks.AnyVersion))
							return err
						}))
					}
					d.Refuse(false)
					first := <-got
					require.ErrorIs(t, first.err, locks.ErrLost)
					require.NotErrorIs(t, first.err, locks.ErrFailed)
					require.NotErrorIs(t, first.err, locks.ErrNotRun)
					require.NotContains(t, first.err.Error(), "delete")
					require.True(t, locks.MayPass(first.err))
					require.Empty(t, first.once.Outcome)
				})
			})
		}
	}
}

// TestRunOnceMarkIsDeletedMeanwhile: an operator deletes the mark while the job runs. The job is done, and its mark
// is written all the same, together with what goes with it; else the next replica would run it again. A mark that is
// refused for another reason stays refused.
func TestRunOnceMarkIsDeletedMeanwhile(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, conn := zk.Open(t), zk.Raw(t)
		for name, c := range map[string]struct {
			opts []locks.OnceOption
			with []locks.Op
			err  error
		}{
			"after the work":   {},
			"with a result":    {with: []locks.Op{locks.Create("/result", nil)}},
			"with one refused": {with: []locks.Op{locks.Set("/nowhere", nil, locks.AnyVersion)}, err: zkconn.ErrNoNode},
			"failed":           {opts: []locks.OnceOption{locks.WithRetryAfter(time.Hour)}, err: scene.ErrOfWork},
		} {
			t.Run(name, func(t *testing.T) {
				got, err := locks.RunOnce(scene.Deadline(t), client, jobKey, 0, func(ctx context.Context, _ locks.Token) error {
					if err := conn.Delete(zk.Root()+jobMark, -1); err != nil {
						return err
					}
					if c.opts != nil {
						return c.err
					}
					return locks.AckWith(ctx, c.with...)
				}, c.opts...)
				require.Equal(t, locks.OnceRan, got.Outcome)
				if c.err != nil {
					require.ErrorIs(t, err, c.err)
				} else {
					require.NoError(t, err)
				}
				if c.with != nil && c.err != nil {
					return
				}
				require.Equal(t, got.Mark, once(t, locks.OnceNotDue, client, time.Hour, &counted{}, c.opts...).Mark)
				require.False(t, got.Mark.Written.IsZero())
				for _, op := range c.with {
					require.NotEqual(t, scene.Absent, zk.Read(t, op.Path))
				}
			})
		}
	})
}
