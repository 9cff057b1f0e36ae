package gocronlocks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

const everySecond = "* * * * * *"

// replicas makes three processes whose jobs tick once a second.
func replicas(t *testing.T, servers string) (all []*replica) {
	t.Helper()
	for i := range 3 {
		r := newReplica(t, fmt.Sprint("r", i), servers)
		r.add(t, gocron.CronJob(everySecond, true), "report")
		r.scheduler.Start()
		all = append(all, r)
	}
	return all
}

// TestOncePerTick: three replicas tick one after the other, when the job of the one before is over,
// as fast jobs are. The first runs it, with tokens that grow; the others are told that it was run
// for this instant, and by whom.
func TestOncePerTick(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		const ticks = 10
		all, runs := replicas(t, servers), make(map[time.Time]int)
		var last Run
		for n := range ticks {
			for i := range all {
				r := all[(n+i)%len(all)]
				if i == 0 {
					require.Equal(t, "ran", r.tick(t, time.Second))
					run := scene.Receive(t, r.ticks)
					runs[run.Instant.UTC()]++
					require.Equal(t, r.clock.Now().UTC(), run.Instant.UTC())
					require.Greater(t, run.Token, last.Token)
					last = run
					continue
				}
				require.Contains(t, r.tick(t, time.Second), "not run: ")
				var refused *NotRun
				require.ErrorAs(t, scene.Receive(t, r.refusals), &refused)
				require.True(t, last.Instant.Equal(refused.Instant))
			}
		}
		require.Len(t, runs, ticks)
		for at, n := range runs {
			require.Equal(t, 1, n, at)
		}
		t.Logf("%d ticks on %d replicas ran %d times", ticks, len(all), len(runs))
	})
}

// TestOnlyToLockIsNotEnough: the same with a Locker that only locks. Every tick runs on every
// replica.
func TestOnlyToLockIsNotEnough(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		const ticks, replicas = 3, 3
		var all []*replica
		free := make(chan struct{}, 1)
		for i := range replicas {
			r := &replica{name: fmt.Sprint("r", i), client: scene.Open(t, servers), clock: clockwork.NewFakeClockAt(begin)}
			r.start(t, onlyLocks{r.client.Keyed("/jobs"), free})
			r.add(t, gocron.CronJob(everySecond, true), "report")
			r.scheduler.Start()
			all = append(all, r)
		}
		for range ticks {
			for _, r := range all {
				require.Equal(t, "ran", r.tick(t, time.Second))
				scene.Receive(t, free)
			}
		}
		t.Logf("%d ticks ran %d times", ticks, ticks*replicas)
	})
}

// TestAtTheSameTime: the replicas tick while the job is under way on the first: nobody else runs it
// then, nor when it is over and the others come to the same tick.
func TestAtTheSameTime(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		var all []*replica
		inside, goOn := make(chan string, 10), make(chan struct{})
		for i := range 3 {
			r := newReplica(t, fmt.Sprint("r", i), servers)
			r.addWork(t, gocron.CronJob(everySecond, true), "report", func() { inside <- r.name; <-goOn })
			r.scheduler.Start()
			all = append(all, r)
		}
		all[0].move(t, time.Second)
		require.Equal(t, "r0", scene.Receive(t, inside))
		require.Contains(t, all[1].tick(t, time.Second), "not run: ")
		close(goOn)
		require.Equal(t, "ran", scene.Receive(t, all[0].events))
		scene.Receive(t, all[0].ticks)
		require.Contains(t, all[2].tick(t, time.Second), "not run: ")
		require.Equal(t, "ran", all[1].tick(t, time.Second), "the next tick is anybody's")
		require.Len(t, inside, 1)
	})
}

// TestRunnerIsKilled: the replica that runs the job dies in it. Its tick was begun and is not run
// again; the next one runs on another replica when the session of the dead one is over.
func TestRunnerIsKilled(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		dead := newReplica(t, "dead", servers)
		inside, goOn := make(chan struct{}), make(chan struct{})
		dead.addWork(t, gocron.CronJob(everySecond, true), "report", func() { close(inside); <-goOn })
		dead.scheduler.Start()
		next := newReplica(t, "next", servers)
		next.add(t, gocron.CronJob(everySecond, true), "report")
		next.scheduler.Start()
		dead.move(t, time.Second)
		scene.Receive(t, inside)
		scene.Closed(t, dead.client.Close(scene.Deadline(t)))
		require.Contains(t, next.tick(t, time.Second), "not run: ", "this tick was begun")
		require.Equal(t, "ran", next.tick(t, time.Second))
		scene.Receive(t, next.ticks)
		close(goOn)
		require.Contains(t, scene.Receive(t, dead.events), "ran")
		require.Contains(t, scene.Receive(t, dead.events), "lost: ", "the dead one would have heard of it")
	})
}

// TestRunNow: between two instants it is refused, and nothing is marked. The same job runs under
// its lock, by hand, and then for the next instant.
func TestRunNow(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		r := newReplica(t, "r", servers)
		job := r.add(t, gocron.CronJob("*/10 * * * * *", true), "report")
		r.scheduler.Start()
		next, err := job.NextRun()
		require.NoError(t, err)
		r.move(t, next.Sub(r.clock.Now())-time.Second)
		require.NoError(t, job.RunNow())
		require.ErrorIs(t, scene.Receive(t, r.refusals), errNotDue)
		require.Contains(t, scene.Receive(t, r.events), "error: ")
		byHand := 0
		require.NoError(t, locks.Do(scene.Deadline(t), locks.Try(r.client.Keyed("/jobs").Mutex("report")),
			func(context.Context, locks.Token) error { byHand++; return nil }))
		require.Equal(t, 1, byHand)
		require.Equal(t, "ran", r.tick(t, time.Second))
		require.Equal(t, next.UTC(), scene.Receive(t, r.ticks).Instant.UTC())
	})
}

// TestTicks: what jobs of each kind are run for.
func TestTicks(t *testing.T) {
	at := begin.UTC()
	r := &replica{clock: clockwork.NewFakeClockAt(at)}
	l := &Locker{Clock: r.clock}
	_, err := l.Lock(t.Context(), "any")
	require.ErrorIs(t, err, errNoScheduler)
	r.start(t, l)
	l.Follow(r.scheduler)
	midnight := gocron.NewAtTimes(gocron.NewAtTime(0, 0, 0))
	kinds := map[string]gocron.JobDefinition{
		"cron":     gocron.CronJob(everySecond, true),
		"daily":    gocron.DailyJob(1, midnight),
		"weekly":   gocron.WeeklyJob(1, gocron.NewWeekdays(time.Monday), midnight),
		"monthly":  gocron.MonthlyJob(1, gocron.NewDaysOfTheMonth(1), midnight),
		"dated":    gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(at.Add(time.Hour))),
		"at once":  gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
		"duration": gocron.DurationJob(10 * time.Second),
		"random":   gocron.DurationRandomJob(20*time.Second, 30*time.Second),
	}
	next := make(map[string]time.Time)
	r.scheduler.Start()
	for name, kind := range kinds {
		if name == "at once" {
			continue // it would begin
		}
		job := r.add(t, kind, name)
		next[name], err = job.NextRun()
		require.NoError(t, err)
	}
	jobs := r.scheduler.Jobs()
	for name, at := range next {
		tick, err := look(jobs, name, at)
		require.NoError(t, err)
		switch name {
		case "duration":
			require.Equal(t, Tick{Period: 9 * time.Second}, tick)
		case "random":
			require.Equal(t, Tick{Period: 18 * time.Second}, tick)
		default:
			require.Equal(t, at, tick.Instant, name)
			late, err := look(jobs, name, at.Add(400*time.Millisecond))
			require.NoError(t, err)
			require.Equal(t, tick, late, name)
			before, err := look(jobs, name, at.Add(-400*time.Millisecond))
			require.NoError(t, err)
			require.Equal(t, tick, before, "%s: the clock was set back", name)
			_, err = look(jobs, name, at.Add(-600*time.Millisecond))
			require.ErrorIs(t, err, errNotDue, name)
		}
	}
	_, err = look(jobs, "another", at)
	require.ErrorIs(t, err, errNoJob)
	r.add(t, kinds["daily"], "cron")
	_, err = look(r.scheduler.Jobs(), "cron", at)
	require.ErrorIs(t, err, errTwoJobs)
}

// TestAtOnce: a one-time job that starts at once is refused.
func TestAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		r := newReplica(t, "r", servers)
		r.scheduler.Start()
		r.add(t, gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), "once")
		require.ErrorIs(t, scene.Receive(t, r.refusals), errAtOnce)
	})
}

// TestNameIsAKey: the name that gocron gives a job by default has what no node may be called.
func TestNameIsAKey(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		r := newReplica(t, "r", servers)
		const name = "github.com/example/jobs.(*Jobs).Nightly"
		r.add(t, gocron.CronJob(everySecond, true), name)
		r.scheduler.Start()
		require.Equal(t, "ran", r.tick(t, time.Second))
		require.Equal(t, name, scene.Receive(t, r.ticks).Job)
		tree, err := r.client.Keyed("/jobs").TryLock(scene.Deadline(t), name)
		require.NoError(t, err)
		require.Equal(t, "/jobs/github.com%2Fexample%2Fjobs.(*Jobs).Nightly", tree.Path())
		require.NoError(t, tree.Unlock(scene.Deadline(t)))
	})
}
