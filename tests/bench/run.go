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
	o      options
	stage  *stage
	others []*foreign
	to     io.Writer // the lines
	found  result
}

// errFailed says that a lock did not do what a lock is for, or that a measurement ended with an error.
var errFailed = errors.New("bench: not everything could be measured: see the remarks")

// run measures all workloads, one after the other.
func (b *bench) run(ctx context.Context) error {
	b.found.Servers, b.found.Members, b.found.Rounds = b.stage.about, len(b.stage.addrs), b.o.rounds
	b.found.Machine = fmt.Sprintf("%d CPUs, %s/%s, %s, load %s when it began", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load())
	b.say("# %s; %s", b.found.Servers, b.found.Machine)
	if b.o.profile != "" {
		return b.profiles(ctx)
	}
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	for _, w := range workloads {
		if !b.wants(w) {
			continue
		}
		if w.alone && len(b.stage.addrs) > 1 {
			b.remark("%s is not run on an ensemble: %s", w.name, w.remark)
			continue
		}
		together := [][]int{w.sizesFor(b.o)}
		if !w.growth {
			together = slices.Collect(slices.Chunk(together[0], 1))
		}
		for _, sizes := range together {
			if err := b.sizes(ctx, w, sizes...); err != nil {
				return err
			}
		}
	}
	if b.found.failed {
		return errFailed
	}
	return nil
}

// warmUp has the servers warm up.
func (b *bench) warmUp(ctx context.Context) error {
	warm := serverWarmUp
	if b.o.quick {
		warm = b.o.warm
	}
	return b.stage.warmUp(ctx, warm)
}

// wants reports whether a workload was asked for.
func (b *bench) wants(w workload) bool {
	return len(b.o.workloads) == 0 && !w.named || slices.Contains(b.o.workloads, w.name)
}

// cell is a peer at a size.
type cell struct {
	n int
	peer
}

func (c cell) key() cellKey { return cellKey{c.n, c.name} }

// sizes measures a workload at one size, or at several that are compared with each other: all peers, round by round.
func (b *bench) sizes(ctx context.Context, w workload, sizes ...int) error {
	b.say("# %s: n is %s", w.name, w.per)
	var cells []cell
	peers := w.peersFor(b.o, b.others)
	for _, n := range sizes {
		for _, p := range peers {
			cells = append(cells, cell{n, p})
		}
	}
	got, err := b.rounds(ctx, w, cells)
	if err != nil {
		return err
	}
	for _, n := range sizes {
		figures, ratios := got.figuresOf(w, n, peers), got.ratiosOf(w, n, peers)
		if w.growth && n != sizes[0] {
			ratios = got.growthOf(w, n, sizes[0], peers)
		}
		b.tell(figures, ratios)
		b.found.Figures, b.found.Ratios = append(b.found.Figures, figures...), append(b.found.Ratios, ratios...)
	}
	return nil
}

// tell writes the lines.
func (b *bench) tell(figures []figure, ratios []comparison) {
	for _, f := range figures {
		b.say("%s", f.line())
	}
	for _, r := range ratios {
		b.say("%s", r.line())
	}
}

// rounds measures each cell once a round, one right after the other.
func (b *bench) rounds(ctx context.Context, w workload, cells []cell) (rounds, error) {
	got, begin := rounds{}, time.Now()
	given := map[cellKey]bool{} // up
	for round := range b.o.rounds {
		if took := time.Since(begin); round > 0 && took > b.o.limit {
			b.remark("%s n=%d: %d of %d rounds, for they took %v: -limit", w.name, cells[0].n, round, b.o.rounds, took.Round(time.Second))
			break
		}
		for _, c := range cells {
			if given[c.key()] {
				continue
			}
			found, err := b.measure(ctx, w, c.n, c.peer, round)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err == nil {
				got[c.key()] = append(got[c.key()], found)
				continue
			}
			given[c.key()] = true
			b.note(w, c.n, c.peer, round, err)
			if errors.Is(err, errTwoHolders) {
				got[c.key()] = nil
			}
		}
	}
	return got, nil
}

// mostTries bounds how often one measurement is begun on a machine that is too slow for it.
const mostTries = 5

// measure measures one peer once.
func (b *bench) measure(ctx context.Context, w workload, n int, p peer, round int) (found figures, err error) {
	for try := range mostTries {
		path := fmt.Sprintf("/bench/%s-%d-%s-%d-%d", w.name, n, p.name, round, try)
		if found, err = b.measureOn(ctx, path, w, n, p); !errors.Is(err, errTooSlow) {
			break
		}
	}
	return found, err
}

// measureOn measures on a lock path that nobody has used.
func (b *bench) measureOn(ctx context.Context, path string, w workload, n int, p peer) (figures, error) {
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

// load is the number of processes that wanted to run in the last minute, on Linux.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
