package main

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/tests/interop"
)

// curatorFlags are for the JVM that Curator runs in: the heap and the compilers of a program that runs for long.
var curatorFlags = []string{"-Xmx1g", "-XX:TieredStopAtLevel=4"}

// foreign is a client library in other processes, which are started when they are first needed.
type foreign struct {
	name    string
	start   func() (*interop.Worker, error)
	workers []*interop.Worker
}

// others are the peers of -peers.
func others() []*foreign {
	return []*foreign{
		{name: curatorsMutex, start: func() (*interop.Worker, error) { return interop.NewCuratorWith(curatorFlags...) }},
		{name: kazoosLock, start: interop.NewKazoo},
	}
}

// worker is one of the processes, counted from 0.
func (a *foreign) worker(n int) (*interop.Worker, error) {
	for len(a.workers) <= n {
		w, err := a.start()
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", a.name, err)
		}
		a.workers = append(a.workers, w)
	}
	return a.workers[n], nil
}

// stop ends the processes.
func (a *foreign) stop() {
	for _, w := range a.workers {
		_ = w.Kill() // they have nothing to finish
	}
	a.workers = nil
}

// run has a process do a job. A process whose job did not end well is not used again.
func (a *foreign) run(ctx context.Context, process int, job interop.Job) (interop.Summary, error) {
	w, err := a.worker(process)
	if err != nil {
		return interop.Summary{}, err
	}
	done, err := w.Run(ctx, job)
	if err != nil {
		_ = w.Kill()
	}
	return done, err
}

// contestJob has the settings that differ between contests.
type contestJob struct {
	sessions, threads int
	apart             bool // a lock each
	hold              time.Duration
}

func (a *foreign) job(t trial) interop.Job {
	return interop.Job{Name: a.name, Recipe: interop.Mutex, Connect: t.stage.connect(0), Path: t.path,
		Warm: t.o.warm, Span: t.o.span, SessionTimeout: timeout, Limit: t.o.patience}
}

// contest is a crowd of the other library.
func (a *foreign) contest(ctx context.Context, t trial, c contestJob) (tally, error) {
	if c.apart {
		for thread := range c.threads {
			if err := t.stage.monitor.makePath(t.own(thread)); err != nil {
				return tally{}, err
			}
		}
	}
	job := a.job(t)
	job.Task, job.Threads, job.Sessions, job.Apart, job.Hold = interop.Bench, c.threads, c.sessions, c.apart, c.hold
	if c.sessions > 1 {
		job.Connect = t.stage.all()
	}
	pids, err := a.ready(1)
	if err != nil {
		return tally{}, err
	}
	defer a.dropDead()
	clocks := t.clocks(pids...)
	before, err := clocks.read()
	if err != nil {
		return tally{}, err
	}
	done, err := a.run(ctx, 0, job)
	if err != nil {
		return tally{}, err
	}
	got := tally{counted: done.Acquired, all: done.Timing.All, elapsed: done.Elapsed, handed: done.Timing.Handed,
		p50: done.Timing.Median, p99: done.Timing.P99}
	got.spent, err = clocks.since(before, got.all) // the process alone knows when it counts
	return got, err
}

// queue is a line of waiters of the other library.
func (a *foreign) queue(ctx context.Context, t trial) (queued, drained time.Duration, asked int, err error) {
	job := a.job(t)
	job.Task, job.Threads = interop.Queueing, t.n
	defer a.dropDead()
	done, err := a.run(ctx, 0, job)
	return done.Timing.Queued, done.Timing.Drained, done.Timing.Asked, err
}

// ready starts so many processes, where they do not run yet, and gives the numbers by which the system knows them.
func (a *foreign) ready(processes int) (pids []int, err error) {
	a.dropDead()
	if _, err := a.worker(processes - 1); err != nil {
		return nil, err
	}
	for _, w := range a.workers[:processes] {
		pids = append(pids, w.Pid())
	}
	return pids, nil
}

// compete is one of several processes that compete until the guard says stop. They have been started.
func (a *foreign) compete(ctx context.Context, t trial, process int, file string) (int, error) {
	job := a.job(t)
	job.Task, job.Threads, job.Guard, job.Process, job.Connect = interop.Bench, each, file, process, t.stage.connect(process)
	done, err := a.run(ctx, process, job)
	return done.Timing.All, err
}

// failover has one process hold and another wait. A witness tells when they hold.
func (a *foreign) failover(ctx context.Context, t trial) (figures, error) {
	witness, err := interop.ServeWitness(interop.NewWitness())
	if err != nil {
		return nil, err
	}
	defer witness.Close()
	if _, err := a.ready(2); err != nil {
		return nil, err
	}
	defer a.dropDead()
	job := a.job(t)
	job.Witness = witness.Addr()
	holder, waiter := job, job
	holder.Name, holder.SessionTimeout = "holder", failoverTimeout
	waiter.Name, waiter.Connect = "waiter", t.stage.connect(1)
	holds, letGo := witness.Detain(holder.Holder(1, 1))
	defer letGo()
	next, letNextGo := witness.Detain(waiter.Holder(1, 1))
	ended := make(chan error, 2)
	work := func(process int, job interop.Job) {
		_, err := a.workers[process].Run(ctx, job)
		ended <- err
	}
	go work(1, holder)
	select {
	case <-holds:
	case err := <-ended:
		return nil, err
	}
	go work(0, waiter)
	found, err := t.killed(ctx, a.workers[1].Kill, next)
	letNextGo()
	if err != nil {
		_ = a.workers[1].Kill()
		_ = a.workers[0].Kill()
	}
	<-ended
	<-ended
	return found, err
}

// dropDead forgets processes that have ended.
func (a *foreign) dropDead() {
	var alive []*interop.Worker
	for _, w := range a.workers {
		if w.Running() {
			alive = append(alive, w)
		}
	}
	a.workers = alive
}
