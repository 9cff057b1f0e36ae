package gocronlocks

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"

	"github.com/turnstile-locks/turnstile/locks"
)

// Locker is gocron's Locker: of all processes that have a job of one name in their schedules, one
// runs it at a time, and once for each tick. Give it to gocron.WithDistributedLocker, and call
// Follow before the scheduler starts.
type Locker struct {
	// Client has the session. Root is the path below which each job has its lock path and its mark:
	// see locks.Keyed.
	Client *locks.Client
	Root   string
	// Clock is the clock that gocron.WithClock was given; nil without it.
	Clock clockwork.Clock
	// Options are given to each lock, such as locks.WithLabel.
	Options []locks.LockOption
	// ForInstants are more options of jobs whose schedule has instants, which locks.RunOnceFor
	// runs: WithStartDeadline for runs that are worth nothing later, or WithWaiting, with which a
	// tick that comes while the job runs is run after it. WithCatchUp is refused, because gocron
	// runs a job once for a tick.
	ForInstants []locks.InstantOption
	// ForPeriods are more options of the other jobs, which locks.RunOnce runs.
	ForPeriods []locks.OnceOption
	// Done, if it is not nil, is called for each run of this process once its mark is written and
	// the lock given back.
	Done func(Run)
	// Lost, if it is not nil, is called for a run of this process whose lock was lost, or whose
	// mark is not written.
	Lost func(Run, error)

	scheduler atomic.Pointer[gocron.Scheduler]
}

// Run is one run of a job.
type Run struct {
	// Job is the job's name, Tick the tick that it is run for.
	Job string
	Tick
	// Token is the fencing token of its lock.
	Token locks.Token
	// Mark is the mark that the run has left.
	Mark locks.Mark
}

// NotRun is the error of a Lock that refuses: gocron.AfterLockError gets it.
type NotRun struct {
	// Job is the job's name, Tick the tick that it was to be run for.
	Job string
	Tick
	// Once says who runs it, or has run it.
	Once locks.Once
	// Err is nil where somebody runs the job for this tick, or has. Otherwise it wraps
	// locks.ErrNotRun, and says why nobody runs it, as where the run of an older tick is under way.
	Err error
}

// Error names the job, the tick for which it was not run, and the reason.
func (n *NotRun) Error() string {
	text := fmt.Sprintf("%s, %v: %s (%v)", n.Job, n.Tick, n.Once.Outcome, n.Once.Mark)
	if n.Err != nil {
		text += ": " + n.Err.Error()
	}
	return text
}

// Unwrap gives Err.
func (n *NotRun) Unwrap() error { return n.Err }

// Follow tells whose jobs are locked: the scheduler that the Locker was given to. Without it Lock
// refuses all.
func (l *Locker) Follow(scheduler gocron.Scheduler) { l.scheduler.Store(&scheduler) }

// Lock is called by gocron before each run of a job. Where it returns an error gocron does not run
// it: a *NotRun, or the error of finding out.
func (l *Locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	tick, err := l.tickOf(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", job, err)
	}
	h := &hold{over: make(chan struct{}), ended: make(chan error, 1)}
	began, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		run := Run{Job: job, Tick: tick}
		once, err := l.run(ctx, run, func(ctx context.Context, token locks.Token) error {
			if at := locks.InstantOf(ctx); !at.Equal(tick.Instant) {
				return fmt.Errorf("%w: the run for %v is not gocron's", errCatchUp, at)
			}
			run.Token = token
			close(began)
			<-h.over
			return nil
		})
		if run.Token == 0 {
			refused <- notRun(run, once, err)
			return
		}
		run.Mark = once.Mark
		l.tell(run, err)
		h.ended <- err
	}()
	select {
	case <-began:
		return h, nil
	case err := <-refused:
		return nil, err
	}
}

// run holds the lock while work is under way, and leaves a mark.
func (l *Locker) run(
	ctx context.Context, run Run, work func(context.Context, locks.Token) error,
) (locks.Once, error) {
	path := l.Client.Keyed(l.Root).Path(run.Job)
	if run.Period > 0 {
		options := slices.Clone(l.ForPeriods)
		for _, option := range l.Options {
			options = append(options, option)
		}
		return locks.RunOnce(ctx, l.Client, path, run.Period, work, options...)
	}
	options := slices.Clone(l.ForInstants)
	for _, option := range l.Options {
		options = append(options, option)
	}
	return locks.RunOnceFor(ctx, l.Client, path, run.Instant, work, options...)
}

// tell tells the program of a run of this process.
func (l *Locker) tell(run Run, err error) {
	switch {
	case err != nil && l.Lost != nil:
		l.Lost(run, err)
	case err == nil && l.Done != nil:
		l.Done(run)
	}
}

// notRun gives the error that tells gocron why a job is not run here.
func notRun(run Run, once locks.Once, err error) error {
	if once.Outcome == "" {
		return fmt.Errorf("%s, %v: %w", run.Job, run.Tick, err)
	}
	return &NotRun{Job: run.Job, Tick: run.Tick, Once: once, Err: err}
}

// hold is a run that is under way: the lock that gocron gives back.
type hold struct {
	over  chan struct{} // closed when the job has returned
	ended chan error    // holds what the run came to, then
}

// Unlock is called by gocron after the run. Its error says that the lock was lost before, or the
// mark is not written.
func (h *hold) Unlock(context.Context) error {
	close(h.over)
	return <-h.ended
}

// now is the time by the scheduler's clock.
func (l *Locker) now() time.Time {
	if l.Clock == nil {
		return time.Now()
	}
	return l.Clock.Now()
}
