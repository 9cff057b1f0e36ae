package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
)

// hot are the workloads that are profiled, with their sizes: those in which Turnstile and not the server is the bound, and the
// one in which each request waits for the one before. Of memory it is the heap of a process whose requests all wait.
var hot = []struct {
	workload
	n int
}{{one, 128}, {cohort, 128}, {many, 256}, {uncontended, 1}, {queue, 5000}, {memoryUse, 10_000}}

// topLines is the number of lines of each profile that are printed.
const topLines = "40"

// views are the parts of each profile that are printed.
var views = []struct {
	profile, index, what string
	cumulative           bool // with what a function calls
}{
	{"cpu", "cpu", "processor time, by function", false},
	{"cpu", "cpu", "processor time, by function and what it calls", true},
	{"allocs", "alloc_space", "bytes allocated", false},
	{"allocs", "alloc_objects", "allocations", false},
	{"allocs", "alloc_objects", "allocations, by function and what it calls", true},
}

// profiles measures Turnstile under the hot workloads, writes the profiles of each, and prints the top of them.
func (b *bench) profiles(ctx context.Context) error {
	for _, h := range hot {
		if !b.wants(h.workload) {
			continue
		}
		n := h.n
		if b.o.quick || len(b.o.sizes) > 0 {
			n = h.sizesFor(b.o)[0]
		}
		for _, p := range h.peers {
			if !isOurs(p.name) {
				continue
			}
			if err := b.profile(ctx, h.workload, n, p); err != nil {
				return fmt.Errorf("bench: profile of %s: %w", h.name, err)
			}
		}
	}
	return nil
}

// profile measures one peer.
func (b *bench) profile(ctx context.Context, w workload, n int, p peer) error {
	folder := filepath.Join(b.o.profile, fmt.Sprintf("%s-%d", w.name, n))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	ofHeap, heap := w.name == memoryUse.name, filepath.Join(folder, p.name+".pb.gz")
	stop := func() error { return nil }
	if ofHeap {
		measure := p.measure
		p.measure = func(ctx context.Context, t trial) (figures, error) {
			t.heap = heap
			return measure(ctx, t)
		}
	} else {
		if _, err := b.measure(ctx, w, n, p, 0); err != nil { // what is only made once is not profiled
			return err
		}
		var err error
		if stop, err = startProfiles(folder); err != nil {
			return err
		}
	}
	found, err := b.measure(ctx, w, n, p, 1)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	lines, _ := rounds{p.name: {found}}.figures(w, n)
	for _, line := range lines {
		b.say("%s", line)
	}
	if ofHeap {
		return b.printTop(ctx, "heap of waiting requests", "-sample_index=inuse_space", heap)
	}
	b.say("# %s n=%d: %s allocations a grant, the benchmark's own among them", w.name, n, number(found["allocs"]))
	for _, v := range views {
		args := []string{"-sample_index=" + v.index}
		if v.profile != "cpu" {
			args = append(args, "-base", filepath.Join(folder, v.profile+"-before.pb.gz"))
		}
		if v.cumulative {
			args = append(args, "-cum")
		}
		if err := b.printTop(ctx, v.what, append(args, filepath.Join(folder, v.profile+".pb.gz"))...); err != nil {
			return err
		}
	}
	return nil
}

// startProfiles begins to profile into a folder, and gives what ends it. Allocations count from the start of the program, and show
// after a collection.
func startProfiles(folder string) (stop func() error, err error) {
	runtime.GC()
	if err := writeProfile("allocs", filepath.Join(folder, "allocs-before.pb.gz")); err != nil {
		return nil, err
	}
	cpu, err := os.Create(filepath.Join(folder, "cpu.pb.gz"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		runtime.GC()
		return errors.Join(cpu.Close(), writeProfile("allocs", filepath.Join(folder, "allocs.pb.gz")))
	}, nil
}

func writeProfile(name, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup(name).WriteTo(f, 0), f.Close())
}

// printTop prints the top of a profile, and the command that does so.
func (b *bench) printTop(ctx context.Context, what string, args ...string) error {
	args = append([]string{"tool", "pprof", "-top", "-nodecount=" + topLines}, args...)
	b.say("\n# %s: go %s", what, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = b.to, io.Discard
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return nil
}
