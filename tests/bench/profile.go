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

// hot are the workloads that are profiled: those in which Turnstile and not the server is the bound, and the one in
// which each request waits for the one before.
var hot = []struct {
	workload
	n int
}{{one, 128}, {cohort, 128}, {many, 256}, {uncontended, 1}, {queue, 5000}}

// Sampling of waiting: blocks by the nanoseconds that they last, and one in so many contentions of a mutex.
const (
	blockRate     = 10_000
	mutexFraction = 10
)

// topLines is the number of lines of each profile that are printed.
const topLines = "40"

// cumulative are the profiles that count from the start of the program: what they were before is written, too.
var cumulative = []string{"allocs", "block", "mutex"}

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
	{"mutex", "delay", "time that others waited for a mutex", true},
	{"block", "delay", "time that goroutines waited", true},
}

// profiles measures Turnstile under the hot workloads, writes the profiles of each, and prints the top of them.
func (b *bench) profiles(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("bench: -profile prints by go tool pprof: %w", err)
	}
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	runtime.SetBlockProfileRate(blockRate)
	runtime.SetMutexProfileFraction(mutexFraction)
	for _, h := range hot {
		if !b.wants(h.workload) {
			continue
		}
		n := h.n
		if len(b.o.sizes) > 0 {
			n = b.o.sizes[0]
		} else if b.o.quick {
			n = h.quick[0]
		}
		if err := b.profile(ctx, h.workload, n); err != nil {
			return fmt.Errorf("bench: profile of %s: %w", h.name, err)
		}
	}
	if !b.wants(memoryUse) {
		return nil
	}
	n := memoryUse.sizes[0]
	if b.o.quick {
		n = memoryUse.quick[0]
	}
	for _, p := range memoryUse.peers(nil) {
		if isOurs(p.name) {
			if err := b.heap(ctx, p, n); err != nil {
				return fmt.Errorf("bench: profile of memory: %w", err)
			}
		}
	}
	return nil
}

// heap profiles the heap of a process whose requests all wait.
func (b *bench) heap(ctx context.Context, p peer, n int) error {
	if err := os.MkdirAll(b.o.profile, 0o755); err != nil {
		return err
	}
	file := filepath.Join(b.o.profile, fmt.Sprintf("memory-%d-%s.pb.gz", n, p.name))
	measured := peer{p.name, func(ctx context.Context, t trial) (figures, error) {
		t.heap = file
		return p.measure(ctx, t)
	}}
	found, err := b.measure(ctx, memoryUse, n, measured, 0)
	if err != nil {
		return err
	}
	b.tellOne(memoryUse, n, p.name, found)
	return b.printTop(ctx, "heap of waiting requests", "-sample_index=inuse_space", file)
}

// tellOne writes what one measurement gave.
func (b *bench) tellOne(w workload, n int, peer string, found figures) {
	for _, m := range w.metrics {
		if value, ok := found[m.name]; ok {
			b.say("%s", figure{m.name, n, peer, m.unit, summarize([]float64{value})}.line())
		}
	}
}

// profile measures one workload.
func (b *bench) profile(ctx context.Context, w workload, n int) error {
	folder := filepath.Join(b.o.profile, fmt.Sprintf("%s-%d", w.name, n))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	open := openTurnstile
	if w.ours != nil {
		open = w.ours
	}
	mine := peer{ours, func(ctx context.Context, t trial) (figures, error) { return w.library(ctx, t, open) }}
	if _, err := b.measure(ctx, w, n, mine, 0); err != nil { // what is only made once is not profiled
		return err
	}
	stop, err := startProfiles(folder)
	if err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := b.measure(ctx, w, n, mine, 1)
	runtime.ReadMemStats(&after)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	b.tellOne(w, n, ours, found)
	grants := found[allGrants]
	b.say("# %s n=%d: %s allocations and %s bytes a grant, the benchmark's own among them", w.name, n,
		number(float64(after.Mallocs-before.Mallocs)/grants), number(float64(after.TotalAlloc-before.TotalAlloc)/grants))
	return b.printTops(ctx, folder)
}

// startProfiles begins to profile into a folder, and gives what ends it.
func startProfiles(folder string) (stop func() error, err error) {
	if err := writeProfiles(folder, "-before"); err != nil {
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
		return errors.Join(cpu.Close(), writeProfiles(folder, ""))
	}, nil
}

// writeProfiles writes the cumulative profiles.
func writeProfiles(folder, suffix string) error {
	runtime.GC() // allocations show in the profile after a collection
	for _, name := range cumulative {
		file, err := os.Create(filepath.Join(folder, name+suffix+".pb.gz"))
		if err != nil {
			return err
		}
		if err := errors.Join(pprof.Lookup(name).WriteTo(file, 0), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// printTops prints the top of each profile in a folder.
func (b *bench) printTops(ctx context.Context, folder string) error {
	for _, v := range views {
		args := []string{"-sample_index=" + v.index}
		if before := filepath.Join(folder, v.profile+"-before.pb.gz"); v.profile != "cpu" {
			args = append(args, "-base", before)
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
