package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// bound bounds a wait for something that must come, on a machine of any speed.
const bound = 2 * time.Minute

func TestMain(m *testing.M) { rig.CommandMain(m, main) }

// eachServer runs a test on the embedded server, and on a real one.
func eachServer(t *testing.T, run func(t *testing.T, servers string)) {
	t.Run("embedded", func(t *testing.T) { run(t, embedded.Run(t).Connect()) })
	t.Run("real", func(t *testing.T) {
		rig.Require(t)
		run(t, rig.StartStandalone(t).Addr())
	})
}

// start starts the program, and has its lines sent to said.
func start(t *testing.T, said chan<- string, args ...string) *rig.Process {
	t.Helper()
	cmd := rig.Self(args...)
	cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
	out, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = writer
	p, err := rig.StartProcess(cmd, func() { _ = writer.Close() })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	go func() {
		defer func() { _ = out.Close() }()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	return p
}

// hear waits for a line that begins so.
func hear(t *testing.T, said <-chan string, prefix string) string {
	t.Helper()
	late := time.After(bound)
	for {
		select {
		case line := <-said:
			if strings.HasPrefix(line, prefix) {
				return line
			}
		case <-late:
			require.Fail(t, "nobody says "+prefix)
		}
	}
}

// marked is a run that was marked as done.
type marked struct {
	by, tick     string
	began, token int64
}

func hearMarked(t *testing.T, said <-chan string) (m marked) {
	t.Helper()
	line := hear(t, said, "done report by ")
	_, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "done report by %s at %d token %d", &m.by, &m.began, &m.token)
	_, m.tick, _ = strings.Cut(line, ", for ")
	require.NoError(t, err)
	return m
}

// TestLocker: two processes whose clocks are hours apart, and out of step, run a job once in each period together, by
// the servers' clock. When one of them is killed the other goes on.
func TestLocker(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		const every, runs = time.Second, 6
		said := make(chan string, 1000)
		settings := []string{"-zk", servers, "-by", "locker", "-every", every.String(), "-session-timeout", "4s"}
		a := start(t, said, append(settings, "-name", "a", "-ahead", "2h")...)
		start(t, said, append(settings, "-name", "b", "-ahead", "-35m400ms")...)
		var all []marked
		for n := range 2 * runs {
			if n == runs {
				require.NoError(t, a.Kill())
			}
			m := hearMarked(t, said)
			require.Less(t, time.Since(time.UnixMilli(m.began)).Abs(), bound, "by the servers' clock")
			all = append(all, m)
		}
		require.Equal(t, "b", all[len(all)-1].by)
		// A process that stalls before it says what it has done is heard after the other's next run.
		slices.SortFunc(all, func(a, b marked) int { return cmp.Compare(a.began, b.began) })
		last := marked{}
		for _, m := range all {
			require.GreaterOrEqual(t, m.began-last.began, (every * 9 / 10).Milliseconds(), "twice in a period: %v, %v", last, m)
			require.Greater(t, m.token, last.token)
			last = m
		}
	})
}

// TestShiftedTicks: three processes whose clocks are a tenth of a second apart have a job in their schedules that takes 20
// ms. It runs once for each instant, with tokens that grow, also when one of the processes is killed.
func TestShiftedTicks(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		const runs = 6
		said := make(chan string, 1000)
		settings := []string{"-zk", servers, "-by", "locker", "-cron", "* * * * * *", "-takes", "20ms", "-session-timeout", "4s"}
		a := start(t, said, append(settings, "-name", "a")...)
		start(t, said, append(settings, "-name", "b", "-ahead", "-100ms")...)
		start(t, said, append(settings, "-name", "c", "-ahead", "-200ms")...)
		var all []marked
		ticks, by := make(map[string]marked), make(map[string]int)
		for n := range 2 * runs {
			if n == runs {
				require.NoError(t, a.Kill())
			}
			m := hearMarked(t, said)
			require.NotContains(t, ticks, m.tick, "twice for one instant: %v", m)
			ticks[m.tick] = m
			all = append(all, m)
			by[m.by]++
		}
		// A process that stalls before it says what it has done is heard after the other's next run.
		slices.SortFunc(all, func(a, b marked) int { return cmp.Compare(a.tick, b.tick) })
		for i := range all[1:] {
			require.Greater(t, all[i+1].token, all[i].token)
		}
		first, err := time.Parse(time.RFC3339, all[0].tick)
		require.NoError(t, err)
		last, err := time.Parse(time.RFC3339, all[len(all)-1].tick)
		require.NoError(t, err)
		t.Logf("%d runs for %d instants in %v, by %v", len(all), len(ticks), last.Sub(first)+time.Second, by)
	})
}

// TestElector: one of the two runs all jobs, and the other when that one is killed.
func TestElector(t *testing.T) {
	eachServer(t, func(t *testing.T, servers string) {
		said := make(chan string, 1000)
		settings := []string{"-zk", servers, "-by", "elector", "-every", "200ms", "-session-timeout", "4s"}
		all := map[string]*rig.Process{
			"a": start(t, said, append(settings, "-name", "a", "-ahead", "2h")...),
			"b": start(t, said, append(settings, "-name", "b", "-ahead", "-35m")...),
		}
		hearTerm := func() (by string, token int64) {
			_, err := fmt.Sscanf(strings.ReplaceAll(hear(t, said, "report by "), ",", " "), "report by %s token %d", &by, &token)
			require.NoError(t, err)
			return by, token
		}
		// On a slow machine a leader may lose its term, and say late what it has done in it.
		names, last, late := map[int64]string{}, map[string]int64{}, time.Now().Add(bound)
		var leader string
		var term int64
		for same := 0; same < 6; same++ {
			require.True(t, time.Now().Before(late), "nobody leads for long: %v", names)
			by, token := hearTerm()
			if names[token] == "" {
				names[token] = by
			}
			require.Equal(t, names[token], by, "two lead in one term")
			require.GreaterOrEqual(t, token, last[by])
			last[by] = token
			if token != term {
				leader, term, same = by, token, 0
			}
		}
		require.NoError(t, all[leader].Kill())
		late = time.Now().Add(bound)
		for by, token := hearTerm(); by == leader || token <= term; by, token = hearTerm() { // what was said before
			require.True(t, time.Now().Before(late), "%s leads with %d after %d", by, token, term)
		}
	})
}
