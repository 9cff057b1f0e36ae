package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// serverWarmUp is the time for which each kind of peer keeps each server busy before anything is
// measured.
const serverWarmUp = 5 * time.Second

// bench is a run.
type bench struct {
	o       options
	stage   *stage
	others  map[string]*foreign
	to      io.Writer // the lines
	figures []figure
	failed  bool
}

func newBench(o options, s *stage, to io.Writer) *bench {
	b := &bench{o: o, stage: s, to: to, others: map[string]*foreign{}}
	for name := range libraries {
		b.others[name] = &foreign{name: name}
	}
	return b
}

// errFailed says that a lock did not do what a lock is for, or that a measurement ended with an error.
var errFailed = errors.New("bench: not everything could be measured: see the remarks")

// run measures all workloads, one after the other.
func (b *bench) run(ctx context.Context) error {
	load, _ := os.ReadFile("/proc/loadavg")
	b.say("# %s; %d CPUs, %s/%s, %s, load %.4s when it began", b.stage.about, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load)
	warm := serverWarmUp
	if b.o.quick {
		warm = b.o.warm
	}
	if err := b.stage.warmUp(ctx, warm); err != nil {
		return err
	}
	if b.o.profile != "" {
		return b.profiles(ctx)
	}
	for _, w := range workloads {
		if !b.wants(w) {
			continue
		}
		if w.alone != "" && len(b.stage.addrs) > 1 {
			b.say("# %s is not run on an ensemble: %s", w.name, w.alone)
			continue
		}
		for _, n := range w.sizesFor(b.o) {
			if err := b.size(ctx, w, n); err != nil {
				return err
			}
		}
	}
	if b.failed {
		return errFailed
	}
	return nil
}

// wants reports whether a workload was asked for.
func (b *bench) wants(w workload) bool {
	return len(b.o.workloads) == 0 && !w.named || slices.Contains(b.o.workloads, w.name)
}

// size measures a workload at one size: all peers round by round, one right after the other.
func (b *bench) size(ctx context.Context, w workload, n int) error {
	b.say("# %s: n is %s", w.name, w.per)
	got, given := rounds{}, map[string]bool{} // up
	for round := range b.o.rounds {
		for _, p := range w.peersFor(b.o) {
			if given[p.name] {
				continue
			}
			found, err := b.measure(ctx, w, n, p, round)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err == nil:
				got[p.name] = append(got[p.name], found)
				continue
			case errors.Is(err, errTwoHolders):
				got[p.name] = nil
			}
			given[p.name] = true
			what := "is not measured any more"
			if errors.Is(err, errPatience) || errors.Is(err, context.DeadlineExceeded) { // which is no failure
				what += ", for the bound -patience " + b.o.patience.String()
			} else {
				b.failed = true
			}
			b.say("# %s n=%d %s %s, from round %d on: %s", w.name, n, p.name, what, round+1, strings.ReplaceAll(err.Error(), "\n", "\n# "))
		}
	}
	figures, ratios := got.figures(w, n)
	for _, line := range append(figures, ratios...) {
		b.say("%s", line)
	}
	b.figures = append(b.figures, figures...)
	return nil
}

// measure measures one peer once, on a lock path that nobody has used.
func (b *bench) measure(ctx context.Context, w workload, n int, p peer, round int) (found figures, err error) {
	path := fmt.Sprintf("/bench/%s-%d-%s-%d", w.name, n, p.name, round)
	if err := b.stage.monitor.makePath(path); err != nil {
		return nil, err
	}
	runtime.GC()
	ctx, cancel := context.WithTimeoutCause(ctx, b.o.patience, errPatience)
	defer cancel()
	return p.measure(ctx, trial{stage: b.stage, o: b.o, peer: p.name, other: b.others[p.name], n: n, path: path})
}

var errPatience = errors.New("bench: it took longer than -patience")

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.to, format+"\n", args...) }
