package gocronlocks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// Tick identifies a run of a job: an instant of its schedule, or a period.
type Tick struct {
	// Instant is an instant of the schedule, the same on all replicas. It is zero where the
	// schedule has no instants.
	Instant time.Time
	// Period is the shortest time from the begin of one run to the begin of the next, by the
	// servers' clock. Zero where there is an instant.
	Period time.Duration
}

// String gives the instant, or the period.
func (t Tick) String() string {
	if t.Period > 0 {
		return "once in " + t.Period.String()
	}
	return t.Instant.UTC().Format(time.RFC3339)
}

const (
	// A run counts for an instant if it begins at most early before it: timers run by the monotonic
	// clock, instants are read from the wall clock, and the wall clock may be set back meanwhile.
	// Instants of gocron's schedules are a second apart at least.
	early = 500 * time.Millisecond
	// passed bounds the instants of a schedule that are looked at: a process that was paused may
	// have missed many.
	passed = 16
	// The part of a duration that lies between two runs at least: replicas do not tick evenly, and
	// servers' clocks differ.
	periodOf, periodPart = 9, 10
)

var (
	errNoScheduler = errors.New("no scheduler to follow: call Locker.Follow before it starts")
	errNoJob       = errors.New("the scheduler does not tell of a job of this name")
	errTwoJobs     = errors.New("two jobs have this name, and would keep each other from running: use gocron.WithName")
	errCatchUp     = errors.New("WithCatchUp is not for a Locker")
	errNotDue      = errors.New("no instant of its schedule is due; to run it by hand, call it under its lock")
	errAtOnce      = errors.New("a one-time job that starts at once has no instant that replicas have in common")
)

// tickOf finds out for which tick a job is about to be run. The scheduler answers from its loop, which
// may be waiting for jobs to end: then ctx, which is the job's, ends.
func (l *Locker) tickOf(ctx context.Context, job string) (Tick, error) {
	scheduler := l.scheduler.Load()
	if scheduler == nil {
		return Tick{}, errNoScheduler
	}
	type answer struct {
		tick Tick
		err  error
	}
	found := make(chan answer, 1)
	now := l.now()
	go func() {
		tick, err := look((*scheduler).Jobs(), job, now)
		found <- answer{tick, err}
	}()
	select {
	case a := <-found:
		return a.tick, a.err
	case <-ctx.Done():
		return Tick{}, context.Cause(ctx)
	}
}

// look finds the job and its tick.
func look(jobs []gocron.Job, name string, now time.Time) (Tick, error) {
	at := slices.IndexFunc(jobs, func(j gocron.Job) bool { return j.Name() == name })
	switch {
	case at < 0:
		return Tick{}, errNoJob
	case slices.ContainsFunc(jobs[at+1:], func(j gocron.Job) bool { return j.Name() == name }):
		return Tick{}, errTwoJobs
	}
	return tickAt(jobs[at], now)
}

// tickAt gives the tick for which a job is about to be run.
func tickAt(job gocron.Job, now time.Time) (Tick, error) {
	switch schedule := job.Schedule().(type) {
	case gocron.DurationJobSchedule:
		return Tick{Period: schedule.Duration * periodOf / periodPart}, nil
	case gocron.DurationRandomJobSchedule:
		return Tick{Period: schedule.Min * periodOf / periodPart}, nil
	case gocron.OneTimeJobSchedule:
		if len(schedule.StartAt) == 0 {
			return Tick{}, errAtOnce
		}
	}
	runs, err := job.NextRuns(passed)
	if err != nil {
		return Tick{}, fmt.Errorf("%w: %w", errNoJob, err)
	}
	// The run that is about to begin is still among the next ones: gocron takes it out when it has
	// the lock.
	var tick Tick
	for _, at := range runs {
		if !at.IsZero() && at.Before(now.Add(early)) && at.After(tick.Instant) {
			tick.Instant = at
		}
	}
	if tick.Instant.IsZero() { // by RunNow; or so late that gocron has taken it out, so that others have run it
		return Tick{}, errNotDue
	}
	return tick, nil
}
