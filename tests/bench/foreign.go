package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// dismiss ends the processes of all libraries.
func (b *bench) dismiss() {
	for _, other := range b.others {
		for _, w := range other.workers {
			_ = w.Kill() // they have nothing to finish
		}
	}
}

// ready forgets processes that have ended, starts as many as are missing, and gives the numbers by which the system knows them.
func (a *foreign) ready(processes int) (pids []int, err error) {
	a.workers = slices.DeleteFunc(a.workers, func(w *interop.Worker) bool { return !w.Running() })
	for len(a.workers) < processes {
		w, err := libraries[a.name]()
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", a.name, err)
		}
		a.workers = append(a.workers, w)
	}
	for _, w := range a.workers[:processes] {
		pids = append(pids, w.Pid())
	}
	return pids, nil
}

// run has a process do a job; both are ready. A process whose job did not end well is not used again.
func (a *foreign) run(ctx context.Context, t trial, process int, job interop.Job) (interop.Summary, error) {
	job.Name, job.Recipe, job.Path, job.Process = a.name, interop.Mutex, t.path, process
	job.Warm, job.Span, job.SessionTimeout, job.Limit = t.o.warm, t.o.span, timeout, t.o.patience
	job.Connect = cmp.Or(job.Connect, t.stage.connect(process))
	done, err := a.workers[process].Run(ctx, job)
	if err != nil {
		_ = a.workers[process].Kill()
	}
	return done, err
}

// contest is a crowd of the other library.
func (a *foreign) contest(ctx context.Context, t trial, c contest) (tally, error) {
	if _, err := c.paths(t); err != nil {
		return tally{}, err
	}
	job := interop.Job{Task: interop.Bench, Threads: t.n, Apart: c.apart, Hold: c.hold}
	if c.sessions {
		job.Connect, job.Threads, job.Sessions = t.stage.all(), 1, t.n
	}
	done, err := a.run(ctx, t, 0, job)
	return tally{counted: done.Acquired, all: done.Timing.All, elapsed: done.Elapsed, handed: done.Timing.Handed,
		p50: done.Timing.Median, p99: done.Timing.P99}, err
}
