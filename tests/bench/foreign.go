package main

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/tests/interop"
)

// curatorFlags are for the JVM that Curator runs in: the heap and the compilers of a program that runs for long.
var curatorFlags = []string{"-Xmx1g", "-XX:TieredStopAtLevel=4"}

// libraries are the peers in other processes.
var libraries = map[string]func() (*interop.Worker, error){
	curatorsMutex: func() (*interop.Worker, error) { return interop.NewCuratorWith(curatorFlags...) },
	kazoosLock:    interop.NewKazoo,
}

// foreign is a client library in other processes, which are started when they are first needed.
type foreign struct {
	name    string
	workers []*interop.Worker
}

// worker is one of the processes, counted from 0.
func (a *foreign) worker(n int) (*interop.Worker, error) {
	for len(a.workers) <= n {
		w, err := libraries[a.name]()
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", a.name, err)
		}
		a.workers = append(a.workers, w)
	}
	return a.workers[n], nil
}

// dismiss ends the processes of all libraries.
func (b *bench) dismiss() {
	for _, other := range b.others {
		for _, w := range other.workers {
			_ = w.Kill() // they have nothing to finish
		}
	}
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

func (a *foreign) job(t trial) interop.Job {
	return interop.Job{Name: a.name, Recipe: interop.Mutex, Connect: t.stage.connect(0), Path: t.path,
		Warm: t.o.warm, Span: t.o.span, SessionTimeout: timeout, Limit: t.o.patience}
}

// contest is a crowd of the other library.
func (a *foreign) contest(ctx context.Context, t trial, c contest) (tally, error) {
	if _, err := c.paths(t); err != nil {
		return tally{}, err
	}
	job := a.job(t)
	job.Task, job.Threads, job.Apart, job.Hold = interop.Bench, t.n, c.apart, c.hold
	if c.sessions {
		job.Connect, job.Threads, job.Sessions = t.stage.all(), 1, t.n
	}
	defer a.dropDead()
	done, err := a.run(ctx, 0, job)
	return tally{counted: done.Acquired, all: done.Timing.All, elapsed: done.Elapsed, handed: done.Timing.Handed,
		p50: done.Timing.Median, p99: done.Timing.P99}, err
}

// queue is a line of waiters of the other library.
func (a *foreign) queue(ctx context.Context, t trial) (line, error) {
	job := a.job(t)
	job.Task, job.Threads = interop.Queueing, t.n
	defer a.dropDead()
	done, err := a.run(ctx, 0, job)
	return line{done.Timing.Queued, done.Timing.Drained, done.Timing.Asked}, err
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
