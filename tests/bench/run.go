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

// serverWarmUp is how long each server is kept busy before anything is measured.
const serverWarmUp = 5 * time.Second

// bench is a run.
type bench struct {
	o      options
	stage  *stage
	others []*abroad
	to     io.Writer // the lines
	found  result
}

// errFailed says that a lock did not do what a lock is for, or that a measurement ended with an error.
var errFailed = errors.New("bench: not everything could be measured: see the remarks")

// run measures all workloads, one after the other.
func (b *bench) run(ctx context.Context) error {
	b.found.Servers, b.found.Rounds = b.stage.about, b.o.rounds
	b.found.Machine = fmt.Sprintf("%d CPUs, %s/%s, %s, load %s when it began", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load())
	b.say("# %s; %s", b.found.Servers, b.found.Machine)
	warm := serverWarmUp
	if b.o.quick {
		warm = b.o.warm
	}
	if err := b.stage.warmUp(ctx, warm); err != nil {
		return err
	}
	for _, w := range workloads() {
		if len(b.o.workloads) > 0 && !slices.Contains(b.o.workloads, w.name) {
			continue
		}
		if w.alone && len(b.stage.addrs) > 1 {
			b.remark("%s is not run on an ensemble: %s", w.name, w.remark)
			continue
		}
		for _, n := range w.sizesFor(b.o) {
			if err := b.size(ctx, w, n); err != nil {
				return err
			}
		}
	}
	if b.found.failed {
		return errFailed
	}
	return nil
}

// size measures a workload at one size: all peers, round by round.
func (b *bench) size(ctx context.Context, w workload, n int) error {
	b.say("# %s: n is %s", w.name, w.per)
	peers, got, begin := w.peers(b.others), rounds{}, time.Now()
	given := map[string]bool{} // up
	for round := range b.o.rounds {
		if took := time.Since(begin); round > 0 && took > b.o.limit {
			b.remark("%s n=%d: %d of %d rounds, for they took %v: -limit", w.name, n, round, b.o.rounds, took.Round(time.Second))
			break
		}
		for _, p := range peers {
			if given[p.name] {
				continue
			}
			found, err := b.measure(ctx, w, n, p, round)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				given[p.name] = true
				b.note(w, n, p, round, err)
				if errors.Is(err, errTwoHolders) {
					got[p.name] = nil
				}
				continue
			}
			got[p.name] = append(got[p.name], found)
		}
	}
	figures, ratios := got.figuresOf(w, n, peers), got.ratiosOf(w, n, peers)
	for _, f := range figures {
		b.say("%s", f.line())
	}
	for _, r := range ratios {
		b.say("%s", r.line())
	}
	b.found.Figures, b.found.Ratios = append(b.found.Figures, figures...), append(b.found.Ratios, ratios...)
	return nil
}

// measure measures one peer once, on a lock path that nobody has used.
func (b *bench) measure(ctx context.Context, w workload, n int, p peer, round int) (figures, error) {
	path := fmt.Sprintf("/bench/%s-%d-%s-%d", w.name, n, p.name, round)
	if err := b.stage.monitor.makePath(path); err != nil {
		return nil, err
	}
	runtime.GC()
	ctx, cancel := context.WithTimeoutCause(ctx, b.o.patience, errPatience)
	defer cancel()
	return p.measure(ctx, trial{stage: b.stage, o: b.o, peer: p.name, n: n, path: path})
}

var errPatience = errors.New("bench: it took longer than -patience")

// note remarks that a peer gave no figure, and why. Running out of patience is no failure.
func (b *bench) note(w workload, n int, p peer, round int, err error) {
	what := "is not measured any more"
	if errors.Is(err, errPatience) || errors.Is(err, context.DeadlineExceeded) {
		what += ", for the bound -patience " + b.o.patience.String()
	} else {
		b.found.failed = true
	}
	b.remark("%s n=%d %s %s, from round %d on: %s", w.name, n, p.name, what, round+1, strings.ReplaceAll(err.Error(), "\n", "\n# "))
}

func (b *bench) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.found.Remarks = append(b.found.Remarks, text)
	b.say("# %s", text)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.to, format+"\n", args...) }

// load is how many processes wanted to run in the last minute, on Linux.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
