package runonce

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// nightly is a schedule, as robfig/cron's Schedule.Next gives it: at two o'clock in the zone of the time that it is given.
func nightly(after time.Time) time.Time {
	at := time.Date(after.Year(), after.Month(), after.Day(), 2, 0, 0, 0, after.Location())
	if !at.After(after) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// instants is work that notes what it was called for, and fails for some of it.
type instants struct {
	of    []time.Time
	fails map[time.Time]bool
}

func (i *instants) work(ctx context.Context, _ locks.Token) error {
	at := locks.InstantOf(ctx)
	i.of = append(i.of, at)
	if i.fails[at] {
		return scene.ErrOfWork
	}
	return nil
}

func nights(of ...int) (all []time.Time) {
	for _, n := range of {
		all = append(all, night(n))
	}
	return all
}

// TestCatchUp: instants that were missed are left out, or run before the newest: the newest of them, or all.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts   []locks.InstantOption
		want   []time.Time
		missed int
	}{
		"nothing is said":   {want: nights(5)},
		"none, and counted": {opts: []locks.InstantOption{locks.WithCatchUp(nightly, 0)}, want: nights(5), missed: 3},
		"the last":          {opts: []locks.InstantOption{locks.WithCatchUp(nightly, 1)}, want: nights(4, 5), missed: 2},
		"all":               {opts: []locks.InstantOption{locks.WithCatchUp(nightly, 100)}, want: nights(2, 3, 4, 5)},
		"what is not too late": {opts: []locks.InstantOption{locks.WithCatchUp(nightly, 100),
			locks.WithStartDeadline(time.Since(night(4)) + time.Hour)}, want: nights(4, 5), missed: 2},
	} {
		t.Run(name, func(t *testing.T) {
			scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
				client, other := zk.Open(t), zk.Open(t)
				w := &instants{}
				got, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(1), w.work, c.opts[:min(1, len(c.opts))]...)
				require.NoError(t, err)
				require.Zero(t, got.Missed, "the first run ever")
				require.Equal(t, nights(1), w.of)
				w.of = nil
				got, err = locks.RunOnceFor(scene.Deadline(t), other, jobKey, night(5), w.work, c.opts...)
				require.NoError(t, err)
				require.Equal(t, locks.OnceRan, got.Outcome)
				require.Equal(t, c.want, w.of)
				require.Equal(t, c.missed, got.Missed)
				require.Equal(t, []any{night(5), locks.MarkDone}, []any{got.Mark.For, got.Mark.State})
				cameTo(t, locks.OnceAlreadyRan, client, night(5), &counted{}, c.opts...)
				cameTo(t, locks.OnceRan, client, night(6), &counted{}, c.opts...)
			})
		})
	}
}

// TestCatchUpAfterFailures: an instant that failed has had its run, and the next ones follow. With WithRetryAfter it comes
// first, and the others wait for it.
func TestCatchUpAfterFailures(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		all := locks.WithCatchUp(nightly, 100)
		w := &instants{fails: map[time.Time]bool{night(2): true, night(3): true}}
		run := func(n int, opts ...locks.InstantOption) error {
			w.of = nil
			got, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(n), w.work, append(opts, all)...)
			require.Equal(t, slices.Contains(w.of, night(n)), got.Outcome == locks.OnceRan)
			require.Equal(t, got.Outcome != locks.OnceRan, errors.Is(err, locks.ErrNotRun))
			return err
		}
		require.NoError(t, run(1))
		err := run(4)
		require.ErrorIs(t, err, scene.ErrOfWork)
		require.Equal(t, nights(2, 3, 4), w.of)
		var both interface{ Unwrap() []error }
		require.True(t, errors.As(err, &both))
		require.Len(t, both.Unwrap(), 2)

		w.fails = map[time.Time]bool{night(6): true}
		for range 2 {
			err := run(7, locks.WithRetryAfter(0))
			require.ErrorIs(t, err, scene.ErrOfWork)
			require.ErrorContains(t, err, "for "+night(7).Format(time.RFC3339)+": not run for this instant: try again")
			require.True(t, locks.MayPass(err))
		}
		require.Equal(t, nights(6), w.of, "the second time without the one that was done")
		w.fails = nil
		require.NoError(t, run(7, locks.WithRetryAfter(0)))
		require.Equal(t, nights(6, 7), w.of)

		w.fails = map[time.Time]bool{night(8): true}
		require.Equal(t, scene.ErrOfWork, run(8))
		w.fails = nil
		require.NoError(t, run(9))
		require.Equal(t, nights(9), w.of, "without WithRetryAfter the one that failed has had its run")
	})
}

// TestCatchUpIsInTheCallersZone: the schedule is asked in the location of the instant that the caller named.
func TestCatchUpIsInTheCallersZone(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, zone := zk.Open(t), time.FixedZone("elsewhere", -9*3600)
		at := func(n int) time.Time { return nightly(night(n).In(zone)) }
		w := &instants{}
		for _, n := range []int{1, 3} {
			_, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, at(n), w.work, locks.WithCatchUp(nightly, 100))
			require.NoError(t, err)
		}
		require.Equal(t, []time.Time{at(1), at(2), at(3)}, w.of)
	})
}

// TestBusyWithWhatItCatchesUp: a run that is at an older instant, and goes on to the caller's, leaves it not without one.
func TestBusyWithWhatItCatchesUp(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client, other := zk.Open(t), zk.Open(t)
		cameTo(t, locks.OnceRan, client, night(1), &counted{})
		calls := 0
		_, err := locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(3),
			func(ctx context.Context, _ locks.Token) error {
				calls++
				require.Equal(t, locks.InstantOf(ctx), cameTo(t, locks.OnceBusy, other, night(3), &counted{}).Mark.For)
				notRunFor(t, locks.OnceBusy, other, night(4))
				return nil
			}, locks.WithCatchUp(nightly, 100))
		require.NoError(t, err)
		require.Equal(t, 2, calls)
	})
}

// TestCatchUpEndsWithItsCaller: it is told to end in the middle of several instants. The instants that it has not
// begun are run by the next that comes.
func TestCatchUpEndsWithItsCaller(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		all := locks.WithCatchUp(nightly, 100)
		cameTo(t, locks.OnceRan, client, night(1), &counted{}, all)
		gone, leave := context.WithCancel(scene.Deadline(t))
		w := &instants{}
		got, err := locks.RunOnceFor(gone, client, jobKey, night(4), func(ctx context.Context, token locks.Token) error {
			leave()
			return w.work(ctx, token)
		}, all)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, locks.ErrNotRun)
		require.Empty(t, got.Outcome, "it was called for another instant only")
		require.Equal(t, nights(2), w.of)
		w.of = nil
		_, err = locks.RunOnceFor(scene.Deadline(t), client, jobKey, night(4), w.work, all)
		require.NoError(t, err)
		require.Equal(t, nights(3, 4), w.of)
	})
}
