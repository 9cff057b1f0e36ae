//go:build mistakes

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// foundWithin bounds the search for a mistake: no new soak begins after that. Each has been found in a minute and a half
// at most, on two processors that were busy with other things, too.
const foundWithin = 5 * time.Minute

// The soak finds mistakes in the code: it is built with each, and runs until it says so.
func TestSoakFinds(t *testing.T) {
	rig.Require(t)
	for _, c := range []struct {
		mistake mistakes.Mistake
		finds   []string // any of these figures
		flags   []string
	}{
		{mistakes.LeaseTooLong, []string{doubleHolders}, []string{"-faults", "network-down,client-pause,lock-behind-stall-from-leader"}},
		{mistakes.WakeUpLost, []string{lostWakeUps}, []string{"-faults", "connections-cut"}},
		{mistakes.DoubtForgotten, []string{orphans, neverEnded}, []string{"-faults", "in-doubt,replies-lost"}},
		{mistakes.ChainUnbroken, []string{doubleHolders}, []string{"-faults", "masses-expire"}},
	} {
		t.Run(c.mistake.Name, func(t *testing.T) {
			require.NotZero(t, soakWith(t, c.mistake, c.finds, c.flags), c.mistake.What)
		})
	}
}

// soakWith builds the soak with a mistake and runs it again and again, with other seeds, until it finds any of those. It gives
// how many.
func soakWith(t *testing.T, m mistakes.Mistake, finds, flags []string) (total int) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	overlay, err := m.Overlay(root, t.TempDir())
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "soak")
	ctx, cancel := context.WithTimeout(context.Background(), 2*foundWithin)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, ".")
	build.Dir = filepath.Join(root, "tests", "soak")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	begin := time.Now()
	for seed := uint64(1); total == 0 && time.Since(begin) < foundWithin; seed++ {
		found := runSoak(t, ctx, program, finds, append(flags, "-seed", fmt.Sprint(seed), "-evidence", t.TempDir())...)
		for _, kind := range finds {
			total += found.Wrong[kind]
		}
		t.Logf("after %v: %v", time.Since(begin).Round(time.Second), found.Wrong)
	}
	return total
}

// runSoak is a soak of a minute, in a process of its own. It ends when it finds any of those.
func runSoak(t *testing.T, ctx context.Context, program string, finds []string, more ...string) (found result) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := append([]string{"-duration", "1m", "-quiet", "30s", "-session", "2s", "-every", "500ms", "-clients", "2",
		"-workers", "6", "-locks", "4", "-calm", "2", "-calm-workers", "4", "-calm-locks", "4", "-hold", "20ms",
		"-patience", "10s"}, more...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var log io.Writer = t.Output()
	for _, kind := range finds {
		log = until{log, "ERROR " + kind, cancel}
	}
	cmd.Stderr = log
	output, err := cmd.Output()
	if len(output) == 0 {
		require.NoError(t, err) // otherwise its exit status says that something was found
	}
	require.NoError(t, json.Unmarshal(output, &found))
	return found
}

// until ends something when a text is written.
type until struct {
	io.Writer
	text string
	end  context.CancelFunc
}

func (u until) Write(p []byte) (int, error) {
	if strings.Contains(string(p), u.text) {
		u.end()
	}
	return u.Writer.Write(p)
}
