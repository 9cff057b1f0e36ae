package gocronlocks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// eachServer runs a test on the embedded server, and on a real one.
func eachServer(t *testing.T, run func(t *testing.T, servers string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t).Connect()) })
	t.Run("real", func(t *testing.T) {
		rig.Require(t)
		run(t, rig.StartStandalone(t).Addr())
	})
}

// begin is the first time of all tests' clocks: a full second, so that the next one is a second
// away. The servers' clock goes on meanwhile: instants may be late by it, and not early.
var begin = time.Now().Truncate(time.Second)

// replica is a process with a schedule, whose clock the test moves.
type replica struct {
	name      string
	clock     *clockwork.FakeClock
	client    *locks.Client
	scheduler gocron.Scheduler
	job       gocron.Job  // the newest
	events    chan string // the outcome of each tick: "ran", or why not
	refusals  chan error
	ticks     chan Run // what Done was told
}

// newReplica makes a process with a Locker of this package.
func newReplica(t *testing.T, name, servers string) *replica {
	t.Helper()
	r := &replica{name: name, ticks: make(chan Run, 100)}
	r.client = scene.Open(t, servers)
	r.clock = clockwork.NewFakeClockAt(begin)
	locker := &Locker{Client: r.client, Root: "/jobs", Clock: r.clock, Options: []locks.LockOption{locks.WithLabel(name)},
		Done: func(run Run) { r.ticks <- run }, Lost: func(_ Run, err error) { r.events <- "lost: " + err.Error() }}
	r.start(t, locker)
	locker.Follow(r.scheduler)
	return r
}

// start makes the scheduler.
func (r *replica) start(t *testing.T, locker gocron.Locker) {
	t.Helper()
	r.events, r.refusals = make(chan string, 100), make(chan error, 100)
	var err error
	r.scheduler, err = gocron.NewScheduler(gocron.WithClock(r.clock), gocron.WithLocation(time.UTC),
		gocron.WithDistributedLocker(locker))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.scheduler.Shutdown()) })
}

// add schedules a job that takes 20 ms of real time.
func (r *replica) add(t *testing.T, definition gocron.JobDefinition, name string) gocron.Job {
	t.Helper()
	return r.addWork(t, definition, name, func() { time.Sleep(20 * time.Millisecond) })
}

// addWork schedules a job.
func (r *replica) addWork(t *testing.T, definition gocron.JobDefinition, name string, work func()) gocron.Job {
	t.Helper()
	job, err := r.scheduler.NewJob(definition, gocron.NewTask(func() {
		work()
		r.events <- "ran"
	}), gocron.WithName(name), gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
		r.refusals <- err
		var refused *NotRun
		if !errors.As(err, &refused) && !errors.Is(err, locks.ErrNotAcquired) {
			r.events <- "error: " + err.Error()
			return
		}
		r.events <- "not run: " + err.Error()
	})))
	require.NoError(t, err)
	r.job = job
	return job
}

// tick moves the replica's clock to a tick of its job, and gives its outcome there.
func (r *replica) tick(t *testing.T, d time.Duration) string {
	t.Helper()
	r.move(t, d)
	return scene.Receive(t, r.events)
}

// move moves the clock when the scheduler waits for it, and has taken out the tick before: gocron
// does so by the time that it is then.
func (r *replica) move(t *testing.T, d time.Duration) {
	t.Helper()
	scene.Eventually(t, func() bool {
		next, err := r.job.NextRun()
		return err == nil && next.After(r.clock.Now())
	}, "the next tick")
	require.NoError(t, r.clock.BlockUntilContext(scene.Deadline(t), 1))
	r.clock.Advance(d)
}

// onlyLocks is the Locker that many bring: it locks, and leaves no mark.
type onlyLocks struct {
	keyed *locks.Keyed
	free  chan struct{} // receives when the lock is given back
}

// Lock takes the lock of a job, if it is free.
func (l onlyLocks) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	lease, err := l.keyed.TryLock(ctx, job)
	return onlyLock{lease, l.free}, err
}

type onlyLock struct {
	lease *locks.Lease
	free  chan struct{}
}

func (l onlyLock) Unlock(ctx context.Context) error {
	err := l.lease.Unlock(ctx)
	l.free <- struct{}{}
	return err
}
