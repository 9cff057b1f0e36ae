package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// embeddedStage is a stage of the embedded server.
func embeddedStage(t *testing.T, replicas int) *stage {
	t.Helper()
	var addrs []rig.Address
	for _, replica := range embedded.Run(t, embedded.WithReplicas(replicas)).Replicas() {
		addrs = append(addrs, rig.Address(replica.Addr()))
	}
	s, err := onStage(t.Context(), "the embedded server", addrs, func() error { return nil })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.strike()) })
	return s
}

// flags are options of a short run.
func flags(t *testing.T, more ...string) options {
	t.Helper()
	o, err := parse(append([]string{"-quick"}, more...), t.Output())
	require.NoError(t, err)
	return o
}

// runOn runs a benchmark and gives its lines.
func runOn(t *testing.T, s *stage, o options) (*bench, string) {
	t.Helper()
	b, lines, err := tryOn(t, s, o)
	require.NoError(t, err, lines)
	return b, lines
}

// tryOn is runOn that may fail.
func tryOn(t *testing.T, s *stage, o options) (*bench, string, error) {
	t.Helper()
	var lines bytes.Buffer
	b := &bench{o: o, stage: s, to: &lines}
	if o.peers {
		b.others = others()
		defer func() {
			for _, other := range b.others {
				other.stop()
			}
		}()
	}
	err := b.run(t.Context())
	t.Log("\n" + lines.String())
	return b, lines.String(), err
}

// runWorkload runs one workload at one size and gives its lines.
func runWorkload(t *testing.T, s *stage, w workload, n int) (*bench, string) {
	t.Helper()
	var lines bytes.Buffer
	b := &bench{o: flags(t), stage: s, to: &lines}
	require.NoError(t, b.sizes(t.Context(), w, n), "%s", &lines)
	t.Log("\n" + lines.String())
	return b, lines.String()
}

// requireWhole fails unless each workload that ran has all figures of its peers, above 0, and all ratios.
func requireWhole(t *testing.T, b *bench, lines string) {
	t.Helper()
	for _, w := range workloads {
		if w.alone && len(b.stage.addrs) > 1 || w.named && len(b.o.workloads) == 0 || len(b.o.workloads) > 0 && !strings.Contains(strings.Join(b.o.workloads, ","), w.name) {
			continue
		}
		peers := w.peers(b.others)
		if w.growth {
			require.Regexp(t, `(?m)^ratio `+w.name+` n=\d+ turnstile/2 [\d.]+ \([\d.]+\.\.[\d.]+\)$`, lines)
		}
		for _, m := range w.metrics {
			for _, p := range peers {
				if p.name == batched && (m.name == "one-p50" || m.name == "one-p99") { // it hands nothing over
					continue
				}
				if p.name == bareExists && m.name != "one-p50" && m.name != "one-p99" {
					continue // there the floor is a round trip, and nothing is handed over
				}
				if strings.HasSuffix(m.name, serverProcessor) && len(b.stage.pids) == 0 {
					continue // the servers are in this process
				}
				line := regexp.MustCompile(`(?m)^` + m.name + ` n=\d+ ` + p.name + ` (-?[\d.]+) \S+ \(-?[\d.]+\.\.-?[\d.]+, \d+ rounds\)$`)
				found := line.FindStringSubmatch(lines)
				require.NotNil(t, found, "%s of %s", m.name, p.name)
				// Without goroutines there are no stacks: the figure is the growth of the process's
				// other stacks, which may be below zero.
				aboutNothing := m.name == "memory-stack" && p.name == oursAsActors
				if !aboutNothing && (m.better != neither || strings.HasSuffix(m.name, serverProcessor)) {
					require.Regexp(t, `[1-9]`, found[1], found[0])
					require.NotRegexp(t, `^-`, found[1], found[0])
				}
				if m.better == neither || isOurs(p.name) {
					continue
				}
				require.Regexp(t, `(?m)^ratio `+m.name+` n=\d+ turnstile/`+p.name+` [\d.]+ \([\d.]+\.\.[\d.]+\)$`, lines)
			}
		}
	}
}

// This and others are named Real for the time that they take: make test has those that show how figures are made.
func TestRealEveryWorkloadRuns(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		b, lines := runOn(t, embeddedStage(t, 1), flags(t))
		requireWhole(t, b, lines)
	})
	t.Run("standalone", func(t *testing.T) {
		rig.Require(t)
		s, err := raise(t.Context(), false)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.strike()) })
		b, lines := runOn(t, s, flags(t))
		requireWhole(t, b, lines)
	})
	t.Run("ensemble", func(t *testing.T) {
		rig.Require(t)
		s, err := raise(t.Context(), true)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.strike()) })
		b, lines := runOn(t, s, flags(t, "-workload", "uncontended,one,pair,processes,queue,memory"))
		requireWhole(t, b, lines)
		require.Contains(t, lines, "# memory is not run on an ensemble")
	})
	t.Run("real peers", func(t *testing.T) {
		interop.Require(t)
		b, lines := runOn(t, embeddedStage(t, 1), flags(t, "-peers"))
		requireWhole(t, b, lines)
	})
}

// Idle sessions send pings, and sessions that hold commit heartbeats, too.
func TestRealIdleSessionsAreMeasured(t *testing.T) {
	var per map[string]float64
	// On a machine that stands still, sessions of half a second fail or send too little. Then longer
	// ones are measured.
	for _, span := range []string{"50ms", "100ms", "200ms"} {
		b, lines, err := tryOn(t, embeddedStage(t, 3), flags(t, "-workload", "idle", "-span", span))
		per = map[string]float64{}
		for _, f := range b.found.Figures {
			per[f.Workload+" "+f.Peer] = f.Figure.Median
		}
		right := per["idle turnstile"] > per["idle turnstile-no-syncs"] && per["idle-held turnstile"] > per["idle-held zklock"]
		if err == nil && right || span == "200ms" {
			require.NoError(t, err, lines)
			requireWhole(t, b, lines)
			break
		}
	}
	require.Positive(t, per["idle zklock"])
	require.Positive(t, per["idle turnstile"])
	require.Greater(t, per["idle turnstile"], per["idle turnstile-no-syncs"], "a sync behind each ping")
	require.Greater(t, per["idle-held turnstile"], per["idle-held zklock"])
}

// Requesters over a gateway are measured beside workers that have a session each.
func TestRealGatewayIsMeasured(t *testing.T) {
	b, lines := runOn(t, embeddedStage(t, 1), flags(t, "-workload", "gateway"))
	requireWhole(t, b, lines)
	for _, f := range b.found.Figures {
		if strings.HasSuffix(f.Workload, "-requesters") {
			require.EqualValues(t, 20, f.Figure.Median, f.Peer)
		}
	}
}

// The result is written as JSON and drawn, too.
func TestJSONAndCharts(t *testing.T) {
	folder := t.TempDir()
	b, _ := runOn(t, embeddedStage(t, 1), flags(t, "-workload", "uncontended,one", "-sizes", "1,2", "-json", "-plot", folder))
	var text bytes.Buffer
	require.NoError(t, b.show(&text))
	var back result
	require.NoError(t, json.Unmarshal(text.Bytes(), &back))
	require.Equal(t, b.found, back)
	require.NotEmpty(t, back.Ratios)
	for _, name := range []string{"uncontended", "one", "one-p50", "one-p99", "one-packets", "one-client-cpu"} {
		drawing, err := os.Open(filepath.Join(folder, name+".png"))
		require.NoError(t, err)
		image, err := png.DecodeConfig(drawing)
		require.NoError(t, errors.Join(err, drawing.Close()))
		require.Greater(t, image.Width, image.Height)
		about, err := os.Stat(drawing.Name())
		require.NoError(t, err)
		require.Less(t, about.Size(), int64(100<<10), "bytes of %s", name)
	}
}

// A chart has axes with labels, the names of the peers, and no more ticks than can be read.
func TestChartsSayWhatTheyShow(t *testing.T) {
	r := result{Servers: "the embedded server", Members: 1}
	for _, peer := range []string{goZkLock, ours} {
		for _, n := range []int{16, 128} {
			r.Figures = append(r.Figures, figure{"one", n, peer, "hand-offs/s", summary{float64(100 * n), float64(90 * n), float64(130 * n), 5}})
		}
	}
	c := r.chart(one, one.metrics[0], r.Figures)
	require.Equal(t, "hand-offs/s (more is better)", c.Y.Label.Text)
	require.Equal(t, "n: workers on one lock, one session", c.X.Label.Text)
	require.Contains(t, c.Title.Text, "the embedded server")
	require.Len(t, c.entries, 2)
	require.Equal(t, ours, c.entries[0].name, "of the legend")
	require.Equal(t, 1000.0, c.Y.Min)
	require.Equal(t, 20_000.0, c.Y.Max)
	require.Len(t, sizeTicks(r.Figures), 2)
	for value, text := range map[float64]string{0: "0", 0.05: "0.05", 100: "100", 1000: "1 000", -2500: "-2 500", 1234567.5: "1 234 567.5"} {
		require.Equal(t, text, label(value))
	}
	labelled := 0
	for _, tick := range (decades{}).Ticks(1000, 20_000) {
		if tick.Label != "" {
			labelled++
		}
	}
	require.Equal(t, 5, labelled, "1 000, 2 000, 5 000, 10 000, 20 000")
}

// Profiles are written for each workload that is asked for, and the top of each is printed.
func TestRealProfiles(t *testing.T) {
	folder := t.TempDir()
	_, lines := runOn(t, embeddedStage(t, 1), flags(t, "-workload", "uncontended,queue,memory", "-profile", folder))
	for _, of := range []string{"uncontended-1", "queue-20"} {
		for _, name := range []string{"cpu", "allocs", "allocs-before", "mutex", "block"} {
			about, err := os.Stat(filepath.Join(folder, of, name+".pb.gz"))
			require.NoError(t, err)
			require.Positive(t, about.Size(), about.Name())
		}
	}
	for _, peer := range []string{ours, oursAsActors} {
		require.FileExists(t, filepath.Join(folder, "memory-150-"+peer+".pb.gz"))
	}
	require.Regexp(t, `(?m)^# uncontended n=1: [\d.]+ allocations and [\d.]+ bytes a grant`, lines)
	require.Regexp(t, `(?m)^queue n=20 turnstile [\d.]+ ms`, lines)
	require.Contains(t, lines, "actors.(*session).Receive", "in the top of a profile")
}

// openNobodyKept locks nothing: every worker is let in.
func openNobodyKept(ctx context.Context, servers string, timeout sessionTimeout) (session, error) {
	return openBare(ctx, servers, timeout)
}

// A fast lock that lets in two at once has no figure, and the run fails.
func TestAWrongLockDoesNotWin(t *testing.T) {
	s := embeddedStage(t, 1)
	for _, w := range []workload{one, pair, queue} {
		t.Run(w.name, func(t *testing.T) {
			path := "/wrong/" + w.name
			require.NoError(t, s.monitor.makePath(path))
			// Long enough that two hold at once: the first time that they do ends it.
			_, err := w.library(t.Context(), trial{stage: s, o: flags(t, "-span", "1m"), peer: "nobody kept", n: 16, path: path}, openNobodyKept)
			require.ErrorIs(t, err, errTwoHolders)
		})
	}
	var lines bytes.Buffer
	b := &bench{o: flags(t, "-rounds", "3", "-span", "1m"), stage: s, to: &lines}
	wrong := pair
	wrong.library = nil
	wrong.bare = func(ctx context.Context, t trial) (figures, error) { return pair.library(ctx, t, openNobodyKept) }
	require.NoError(t, b.sizes(t.Context(), wrong, 16))
	require.True(t, b.found.failed)
	require.Empty(t, b.found.Figures)
	require.Contains(t, lines.String(), "two held one lock at once")
}

// A peer that takes too long is given up, with a remark, and the others are measured all the same.
func TestPatience(t *testing.T) {
	var lines bytes.Buffer
	b := &bench{o: flags(t, "-patience", "10s", "-rounds", "2"), stage: embeddedStage(t, 1), to: &lines}
	b.o.patience = time.Second
	slow := uncontended
	slow.bare = func(ctx context.Context, t trial) (figures, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	slow.library = func(context.Context, trial, opener) (figures, error) { return figures{"uncontended": 3}, nil }
	require.NoError(t, b.sizes(t.Context(), slow, 1))
	require.False(t, b.found.failed)
	require.Len(t, b.found.Remarks, 1)
	require.Contains(t, lines.String(), "bare is not measured any more, for the bound -patience 1s, from round 1 on")
	require.Contains(t, lines.String(), "uncontended n=1 turnstile 3.00 µs/cycle (3.00..3.00, 2 rounds)")
	require.Contains(t, lines.String(), "ratio uncontended n=1 turnstile/zklock 1.00 (1.00..1.00)")
}

// A measurement that the machine was too slow for is tried again on another path, and not for ever.
func TestTooSlowIsTriedAgain(t *testing.T) {
	b := &bench{o: flags(t), stage: embeddedStage(t, 1)}
	for _, slow := range []int{0, 1, mostTries} {
		paths := map[string]bool{}
		p := peer{name: "slow", measure: func(_ context.Context, t trial) (figures, error) {
			if paths[t.path] = true; len(paths) <= slow {
				return nil, errTooSlow
			}
			return figures{"failover": 3}, nil
		}}
		found, err := b.measure(t.Context(), failover, 1, p, slow)
		require.Len(t, paths, min(slow+1, mostTries))
		if slow == mostTries {
			require.ErrorIs(t, err, errTooSlow)
			continue
		}
		require.NoError(t, err)
		require.NotEmpty(t, found)
	}
}

// A run that takes too long has fewer rounds, and says so.
func TestLimit(t *testing.T) {
	var lines bytes.Buffer
	b := &bench{o: flags(t, "-rounds", "3", "-limit", "1ns"), stage: embeddedStage(t, 1), to: &lines}
	quick := uncontended
	quick.bare, quick.library = nil, func(context.Context, trial, opener) (figures, error) { return figures{"uncontended": 3}, nil }
	require.NoError(t, b.sizes(t.Context(), quick, 1))
	require.Contains(t, lines.String(), "uncontended n=1: 1 of 3 rounds")
	require.Contains(t, lines.String(), "1 rounds)")
}
