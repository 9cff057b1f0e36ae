package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// embeddedStage is a stage of the embedded server.
func embeddedStage(t *testing.T) *stage {
	t.Helper()
	s, err := onStage(t.Context(), "the embedded server", []rig.Address{rig.Address(embedded.Run(t).Addr())}, func() error { return nil })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.strike()) })
	return s
}

// runOn runs a benchmark for a moment, and gives its lines.
func runOn(t *testing.T, s *stage, flags ...string) (*bench, string) {
	t.Helper()
	o, err := parse(append([]string{"-quick"}, flags...), t.Output())
	require.NoError(t, err)
	var lines bytes.Buffer
	b := newBench(o, s, &lines)
	defer b.dismiss()
	err = b.run(t.Context())
	t.Log("\n" + lines.String())
	require.NoError(t, err)
	return b, lines.String()
}

// mayBeMissing are figures that a peer has not, or that may be below 0.
func mayBeMissing(metric, peer string) bool {
	latency := metric == "one-p50" || metric == "one-p99"
	return peer == batched && latency || peer == bareExists && !latency || // one hands nothing over, the other does nothing else
		metric == "memory-stack" && peer == oursAsActors // without goroutines it is the growth of other stacks
}

// requireWhole fails unless each workload that ran has all figures of its peers, above 0, and all ratios.
func requireWhole(t *testing.T, b *bench, lines string) {
	t.Helper()
	found := map[string]float64{}
	for _, f := range b.figures {
		found[f.metric+" "+f.peer] = f.median
	}
	for _, w := range workloads {
		if !b.wants(w) || w.alone != "" && len(b.stage.addrs) > 1 {
			continue
		}
		for _, m := range w.metrics {
			for _, p := range w.peersFor(b.o) {
				name := w.titled(m)
				if mayBeMissing(name, p.name) || m.key == "server-cpu" && b.stage.pids == nil {
					continue
				}
				require.Contains(t, found, name+" "+p.name)
				if m.better == neither {
					continue
				}
				require.Positive(t, found[name+" "+p.name], "%s of %s", name, p.name)
				if !isOurs(p.name) {
					require.Contains(t, lines, "\nratio "+name+" n=")
					require.Contains(t, lines, " turnstile/"+p.name+" ")
				}
			}
		}
	}
}

// They are named Real for the time that they take: make test has those that show how figures are made.
func TestRealEveryWorkloadRuns(t *testing.T) {
	t.Run("standalone, with peers", func(t *testing.T) {
		interop.Require(t)
		s, err := raise(t.Context(), false)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.strike()) })
		b, lines := runOn(t, s, "-peers")
		requireWhole(t, b, lines)
	})
	t.Run("ensemble", func(t *testing.T) {
		rig.Require(t)
		s, err := raise(t.Context(), true)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.strike()) })
		b, lines := runOn(t, s, "-workload", "uncontended,one,pair,processes,queue,memory")
		requireWhole(t, b, lines)
		require.Contains(t, lines, "# memory is not run on an ensemble")
	})
	t.Run("by their names", func(t *testing.T) {
		b, lines := runOn(t, embeddedStage(t), "-workload", "gateway,look-ahead,idle", "-span", "200ms")
		requireWhole(t, b, lines)
		require.Contains(t, lines, "ratio look-ahead n=3 turnstile/"+noLookAhead)
		per := map[string]float64{}
		for _, f := range b.figures {
			per[f.metric+" "+f.peer] = f.median
		}
		require.Greater(t, per["idle turnstile"], per["idle turnstile-no-syncs"], "a sync behind each ping")
		require.Positive(t, per["idle turnstile-no-syncs"])
		require.Greater(t, per["idle-held turnstile"], per["idle-held zklock"], "heartbeats, too")
	})
}

// The lines of figures that stand for several sizes are drawn: a chart has a line for each peer.
func TestCharts(t *testing.T) {
	folder := t.TempDir()
	b, _ := runOn(t, embeddedStage(t), "-workload", "many", "-sizes", "1,2")
	require.NoError(t, b.plot(folder))
	drawing, err := os.ReadFile(filepath.Join(folder, "many.png"))
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(drawing, []byte("\x89PNG")))
	require.Less(t, len(drawing), 100<<10)
	var labels []string
	for _, tick := range (decades{}).Ticks(900, 20_000) {
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	require.Equal(t, []string{"1000", "2000", "5000", "10000", "20000"}, labels)
}

// Profiles are written for each workload that is asked for, and the top of each is printed.
func TestRealProfiles(t *testing.T) {
	folder := t.TempDir()
	_, lines := runOn(t, embeddedStage(t), "-workload", "uncontended,queue,memory", "-profile", folder)
	for _, of := range []string{"uncontended-1", "queue-20"} {
		for _, name := range []string{"cpu", "allocs", "allocs-before"} {
			about, err := os.Stat(filepath.Join(folder, of, name+".pb.gz"))
			require.NoError(t, err)
			require.Positive(t, about.Size(), about.Name())
		}
	}
	for _, peer := range []string{ours, oursAsActors} {
		require.FileExists(t, filepath.Join(folder, "memory-150", peer+".pb.gz"))
	}
	require.Regexp(t, `(?m)^# uncontended n=1: [\d.]+ allocations a grant`, lines)
	require.Regexp(t, `(?m)^queue n=20 turnstile [\d.]+ ms`, lines)
	require.Contains(t, lines, "actors.(*session).Receive", "in the top of a profile")
}

// A fast lock that lets in two at once has no figure, and the run fails. A peer that takes too long is given up. The others are
// measured all the same.
func TestOutcomes(t *testing.T) {
	var lines bytes.Buffer
	o, err := parse([]string{"-patience", "1s", "-rounds", "2"}, t.Output())
	require.NoError(t, err)
	b := newBench(o, embeddedStage(t), &lines)
	w := workload{name: "w", per: "things", metrics: []metric{{"time", "s", less}}}
	for name, outcome := range map[string]func(ctx context.Context, round string) error{
		ours: func(context.Context, string) error { return nil }, goZkLock: func(context.Context, string) error { return nil },
		"slow": func(ctx context.Context, _ string) error { <-ctx.Done(); return context.Cause(ctx) },
		"wrong": func(_ context.Context, path string) error {
			if strings.HasSuffix(path, "-1") {
				return errTwoHolders
			}
			return nil
		},
	} {
		w.peers = append(w.peers, peer{name, func(ctx context.Context, t trial) (figures, error) { return figures{"time": 3}, outcome(ctx, t.path) }})
	}
	slices.SortFunc(w.peers, func(a, b peer) int { return strings.Compare(a.name, b.name) })
	require.NoError(t, b.size(t.Context(), w, 7))
	require.Equal(t, `# w: n is things
# w n=7 slow is not measured any more, for the bound -patience 1s, from round 1 on: bench: it took longer than -patience
# w n=7 wrong is not measured any more, from round 2 on: bench: two held one lock at once
w n=7 turnstile 3.00 s (3.00..3.00, 2 rounds)
w n=7 zklock 3.00 s (3.00..3.00, 2 rounds)
ratio w n=7 turnstile/zklock 1.00 (1.00..1.00)
`, lines.String())
	require.True(t, b.failed)
}

// A lock that lets in everybody is found out.
func TestAWrongLockDoesNotWin(t *testing.T) {
	s := embeddedStage(t)
	o, err := parse([]string{"-span", "1m"}, t.Output()) // the first time that two hold ends it
	require.NoError(t, err)
	for _, p := range []peer{together.in("one", openBare), passing.in("pair", openBare), waitingIn("queue", openBare)} {
		t.Run(p.name, func(t *testing.T) {
			path := "/wrong/" + p.name
			require.NoError(t, s.monitor.makePath(path))
			_, err := p.measure(t.Context(), trial{stage: s, o: o, n: 16, path: path})
			require.True(t, errors.Is(err, errTwoHolders), "%v", err)
		})
	}
}

func TestOptions(t *testing.T) {
	o, err := parse(nil, t.Output())
	require.NoError(t, err)
	require.Equal(t, 5, o.rounds)
	require.Equal(t, time.Second, o.span)
	o, err = parse([]string{"-quick", "-span", "2s", "-workload", "one,pair", "-sizes", "2,16"}, t.Output())
	require.NoError(t, err)
	require.Equal(t, options{quick: true, rounds: 1, warm: 20 * time.Millisecond, span: 2 * time.Second, patience: 2 * time.Minute,
		workloads: []string{"one", "pair"}, sizes: []int{2, 16}}, o)
	for _, wrong := range [][]string{{"-workload", "two"}, {"-rounds", "0"}, {"-span", "0s"}, {"-warm", "-1s"}, {"-sizes", "0"}, {"one"}, {"-no"}} {
		_, err := parse(wrong, t.Output())
		require.Error(t, err, "%v", wrong)
	}
}
