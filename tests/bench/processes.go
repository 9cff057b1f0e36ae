package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// each is the number of workers of a process.
const each = 8

// processes is several processes, with a session and workers each, that compete for one lock.
var processes = workload{
	name: "processes", per: "processes with a session and 8 workers each, on one lock", sizes: []int{4}, quick: []int{2},
	metrics: append([]metric{
		{"processes", "hand-offs/s", more, "Processes with 8 workers each on one lock"},
		{"processes-fairness", "least/most", neither, "Grants of the process that had the fewest, by those of the one that had the most"},
	}, processorMetrics("processes", "hand-off", "Processes with 8 workers each on one lock")...),
	cohorts: true, longCohorts: true,
	library: func(ctx context.Context, t trial, _ opener) (figures, error) {
		return t.competing(ctx, func(ctx context.Context, process int, file string, pid chan<- int) (int, error) {
			return competeInChild(ctx, pid, childSpec{Task: taskCompete, Peer: t.peer, Connect: t.stage.connect(process), Path: t.path,
				N: each, Process: process, Timeout: timeout, Guard: file})
		})
	},
	foreign: func(ctx context.Context, t trial, other *foreign) (figures, error) {
		pids, err := other.ready(t.n)
		if err != nil {
			return nil, err
		}
		defer other.dropDead()
		return t.competing(ctx, func(ctx context.Context, process int, file string, pid chan<- int) (int, error) {
			pid <- pids[process]
			return other.compete(ctx, t, process, file)
		})
	},
}

// competitor is a process that works until the guard in a file says stop, and returns the number of its grants. It
// says its process id.
type competitor func(ctx context.Context, process int, file string, pid chan<- int) (int, error)

// competing runs processes. The guard tells what they did meanwhile.
func (t trial) competing(ctx context.Context, run competitor) (figures, error) {
	folder, err := os.MkdirTemp("", "turnstile-bench-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "guard")
	g, err := openGuard(file, -1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.unmap() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type outcome struct {
		grants int
		err    error
	}
	ended, pids := make(chan outcome, t.n), make(chan int, t.n)
	for process := range t.n {
		go func() {
			grants, err := run(ctx, process, file, pids)
			if err != nil {
				cancel(err)
			}
			ended <- outcome{grants, err}
		}()
	}
	found, short := t.watch(ctx, g, pids)
	g.store(wordStop, 1)
	var errs []error
	sum := int64(0)
	for range t.n {
		one := <-ended
		errs = append(errs, one.err)
		sum += int64(one.grants)
	}
	if err := errors.Join(errs...); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	return found, errors.Join(short, g.settle(sum))
}

// watch waits until all workers have held, and then looks for a while at how the guard's counts grow.
func (t trial) watch(ctx context.Context, g *guard, pids <-chan int) (figures, error) {
	for g.load(wordArrived) < int64(t.n*each) && ctx.Err() == nil {
		rig.Rest(ctx, pollEvery)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var clients []int
	for range t.n { // they have all begun
		clients = append(clients, <-pids)
	}
	clocks := t.clocks(clients...)
	rig.Rest(ctx, t.o.warm)
	processor, err := clocks.read()
	if err != nil {
		return nil, err
	}
	begin, before, grants := time.Now(), g.grants(), make([]int64, t.n)
	for process := range grants {
		grants[process] = -g.load(wordProcess + process)
	}
	rig.Rest(ctx, t.o.span)
	for g.grants() == before && ctx.Err() == nil { // a slow machine
		rig.Rest(ctx, pollEvery)
	}
	got := tally{counted: int(g.grants() - before), elapsed: time.Since(begin)}
	if got.spent, err = clocks.since(processor, got.counted); err != nil {
		return nil, err
	}
	for process := range grants {
		grants[process] += g.load(wordProcess + process)
	}
	found, err := perSecond("processes")(got, got.enough())
	if err == nil {
		found["processes-fairness"] = float64(slices.Min(grants)) / float64(max(slices.Max(grants), 1))
	}
	return found, err
}

// competeInChild runs one process to its end.
func competeInChild(ctx context.Context, pid chan<- int, spec childSpec) (int, error) {
	c, err := startChild(spec)
	if err != nil {
		return 0, err
	}
	defer c.kill()
	pid <- c.Pid()
	var result struct{ Grants int }
	err = c.expect(ctx, &result)
	return result.Grants, err
}

// compete is such a process.
func compete(ctx context.Context, spec childSpec, to *parent) error {
	g, err := openGuard(spec.Guard, spec.Process)
	if err != nil {
		return err
	}
	s, err := libraries[spec.Peer](ctx, spec.Connect, spec.Timeout)
	if err != nil {
		return err
	}
	defer s.close()
	c := crowd{sessions: []session{s}, workers: spec.N, first: spec.Process * spec.N, shared: true, path: onePath(spec.Path), guard: oneGuard(g),
		timed: func(ctx context.Context, _ *counting) {
			for g.load(wordStop) == 0 && ctx.Err() == nil {
				rig.Rest(ctx, pollEvery)
			}
		}}
	got, err := c.run(ctx)
	if err != nil {
		return err
	}
	return to.tell(struct{ Grants int }{got.all})
}
