package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// each is the number of workers of a process.
const each = 8

// processes is several processes, with a session and workers each, that compete for one lock.
var processes = workload{
	name: "processes", per: "processes with a session and 8 workers each, on one lock", sizes: []int{4}, quick: []int{2},
	metrics: append([]metric{{"rate", "hand-offs/s", more}, {"fairness", "least/most", neither}}, processorMetrics("hand-off")...),
	peers: []peer{competing(goZkLock, 0), competing(ours, 0), competing(oursInCohorts, fewGrants),
		competingElsewhere(curatorsMutex), competingElsewhere(kazoosLock)},
}

// competing is a library in processes of this program, in cohorts of so many grants.
func competing(name string, cohort int) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) {
		return race{trial: t, processes: t.n, workers: t.n * each, paths: 1}.children(ctx, childSpec{Peer: name, Cohort: cohort, Sessions: 1})
	}}
}

func competingElsewhere(name string) peer {
	return peer{name, func(ctx context.Context, t trial) (figures, error) {
		pids, err := t.other.ready(t.n)
		if err != nil {
			return nil, err
		}
		return race{trial: t, processes: t.n, workers: t.n * each, paths: 1}.run(ctx, func(ctx context.Context, process int, file string, pid chan<- int) (raced, error) {
			pid <- pids[process]
			done, err := t.other.run(ctx, t, process, interop.Job{Task: interop.Bench, Threads: each, Guard: file})
			return raced{Grants: done.Timing.All}, err
		})
	}}
}

// race is processes that compete for locks until the guards in a file say stop.
type race struct {
	trial
	processes, workers, paths int
	// after is called when the time that counts is over, and all go on; it may be nil.
	after func(figures) error
}

// raced is what a process has done, and by how much its heap and stacks have grown.
type raced struct{ Grants, Grown int }

// competitor is a process that works until the guards in a file say stop. It says its process id.
type competitor func(ctx context.Context, process int, file string, pid chan<- int) (raced, error)

// children has each process be a child of this one.
func (r race) children(ctx context.Context, spec childSpec) (figures, error) {
	return r.run(ctx, func(ctx context.Context, process int, file string, pid chan<- int) (done raced, err error) {
		spec := spec
		spec.Task, spec.Path, spec.Paths, spec.Guard, spec.Process, spec.Timeout = taskCompete, r.path, r.paths, file, process, timeout
		spec.Connect, spec.N = r.stage.connect(process), (r.workers+process)/r.processes
		if spec.Sessions > 1 {
			spec.Sessions = spec.N
		}
		c, err := startChild(spec)
		if err != nil {
			return done, err
		}
		defer c.kill()
		pid <- c.Pid()
		return done, c.expect(ctx, &done)
	})
}

// run runs the processes. The guards tell what they do meanwhile.
func (r race) run(ctx context.Context, run competitor) (figures, error) {
	folder, err := os.MkdirTemp("", "turnstile-bench-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "guard")
	guards, unmap, err := openGuards(file, 0, r.paths)
	if err != nil {
		return nil, err
	}
	defer unmap()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended, pids := make(chan raced, r.processes), make(chan int, r.processes)
	for process := range r.processes {
		go func() {
			done, err := run(ctx, process, file, pids)
			if err != nil {
				cancel(err)
			}
			ended <- done
		}()
	}
	found, err := r.watch(ctx, guards, pids)
	guards[0].store(wordStop, 1)
	var sum raced
	for range r.processes {
		done := <-ended
		sum.Grants += done.Grants
		sum.Grown += done.Grown
	}
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	if found["memory"] == 0 {
		found["memory"] = float64(sum.Grown) / float64(r.workers)
	}
	return found, settle(guards, sum.Grants)
}

// watch waits until all workers have held, and then looks for a while at how the guards' counts grow.
func (r race) watch(ctx context.Context, guards []*guard, pids <-chan int) (figures, error) {
	if err := await(ctx, pollEvery, func() (bool, error) { return total(guards, wordArrived) >= int64(r.workers), nil }); err != nil {
		return nil, err
	}
	var clients []int
	for range r.processes { // they have all begun
		clients = append(clients, <-pids)
	}
	rig.Rest(ctx, r.o.warm)
	grants := make([]int, r.processes)
	found, err := r.counted(ctx, clients, func() (tally, error) {
		begin, from := time.Now(), total(guards, wordGrants)
		for process := range grants {
			grants[process] = -int(total(guards, wordProcess+process))
		}
		rig.Rest(ctx, r.o.span)
		err := await(ctx, pollEvery, func() (bool, error) { return total(guards, wordGrants) > from, nil }) // on a slow machine
		counted := int(total(guards, wordGrants) - from)
		for process := range grants {
			grants[process] += int(total(guards, wordProcess+process))
		}
		return tally{counted: counted, all: counted, elapsed: time.Since(begin)}, err
	})
	if err != nil {
		return nil, err
	}
	found["fairness"] = float64(slices.Min(grants)) / float64(max(slices.Max(grants), 1))
	if r.after != nil {
		err = r.after(found)
	}
	return found, err
}

// compete is such a process.
func compete(ctx context.Context, spec childSpec, to *parent) error {
	guards, unmap, err := openGuards(spec.Guard, spec.Process, spec.Paths)
	if err != nil {
		return err
	}
	defer unmap()
	system := newSystem()
	before := occupation()
	sessions, end, err := spec.open(ctx, system)
	defer end()
	if err != nil {
		return err
	}
	all := crowd{sessions: sessions, workers: spec.N, first: spec.Process << 24, guards: guards}
	for path := range spec.Paths {
		all.paths = append(all.paths, own(spec.Path, path))
	}
	if spec.Paths == 1 {
		all.paths[0] = spec.Path
	}
	grown := 0
	all.while = func(ctx context.Context, _ *counting) {
		_ = await(ctx, pollEvery, func() (bool, error) { return guards[0].load(wordStop) != 0, nil })
		grown = occupation().since(before)
	}
	got, err := all.run(ctx)
	if err != nil {
		return err
	}
	return to.tell(raced{got.all, grown})
}
