package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/turnstile-locks/turnstile/locks"
)

// Locker is gocron's Locker: of all processes that have a job of one name in their schedules, one runs it at a time,
// and not again before Period is over.
//
// A Locker that only locks does not do: a process whose clock is a little late would find the lock free again, when
// the run is over, and run the job a second time. RunOnce leaves a mark, and counts the period by the servers' clock.
// gocron does not tell a Locker whether the job has failed, so that one that has is marked all the same; a process
// that dies leaves no mark. Nor does it end the context of a job whose lock is lost: look at the resource's side with
// the token.
type Locker struct {
	// Client has the session, Below the path under which the jobs have their keys.
	Client *locks.Client
	Below  string
	// Label is what the process calls itself.
	Label string
	// Period is the time between two runs at least: a little less than that of the schedule.
	Period time.Duration
	// Done, if it is not nil, is told of each run of this process that was marked.
	Done func(key string, mark locks.Mark)
}

// run is one run of a job: the lock that gocron gives back.
type run struct {
	over  chan struct{} // closed when the job has returned
	ended chan error    // holds what RunOnce returned then
}

// Lock is called before each run of a job; where it returns an error gocron does not run it.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	r := &run{over: make(chan struct{}), ended: make(chan error, 1)}
	began, left := make(chan struct{}), make(chan error, 1)
	go func() {
		once, err := locks.RunOnce(ctx, l.Client, l.Below+"/"+key, l.Period, func(context.Context, locks.Token) error {
			close(began)
			<-r.over
			return nil
		}, locks.WithLabel(l.Label))
		if once.Outcome != locks.OnceRan {
			left <- notRun(key, once, err)
			return
		}
		if err == nil && l.Done != nil {
			l.Done(key, once.Mark)
		}
		r.ended <- err
	}()
	select {
	case <-began:
		return r, nil
	case err := <-left:
		return nil, err
	}
}

// notRun says why a job is not run here.
func notRun(key string, once locks.Once, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return fmt.Errorf("%s: %s (%v)", key, once.Outcome, once.Mark)
}

// Unlock is called after the run; its error says that the lock was lost before, or the mark is not written.
func (r *run) Unlock(context.Context) error {
	close(r.over)
	return <-r.ended
}
