//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestScenes: a short trial of each scene, on real servers, says when the first command was gone and when the second
// began. Which was first depends on the machine's speed here, where nothing but the lease keeps them apart: tests/zklock
// has the order.
func TestScenes(t *testing.T) {
	t.Parallel()
	rig.Require(t)
	scenes := []string{sceneKilled, scenePaused, sceneDown, sceneSilent, scenePartitioned}
	o, err := parse([]string{"-scenes", strings.Join(scenes, ","), "-trials", "1", "-timeout", "2s", "-after", "1s", "-most", "1m"}, t.Output())
	require.NoError(t, err)
	var lines bytes.Buffer
	require.NoError(t, measure(patient.Deadline(t), o, &lines))
	t.Log("\n" + lines.String())
	for _, scene := range scenes {
		require.Regexp(t, `(?m)^zklock +`+scene+` +\d+\.\d +\d+\.\d +\d+\.\d$`, lines.String())
	}
}

// TestOutlives: a first command that stays is given up after -most, and its times are marked.
func TestOutlives(t *testing.T) {
	t.Parallel()
	first, second := sleeps(t), sleeps(t)
	at := trial{options: options{most: 20 * time.Millisecond}}
	r, err := at.watch(patient.Deadline(t), first, second, time.Now())
	require.NoError(t, err)
	require.True(t, r.outlived)
	require.Regexp(t, `^>\d+\.\d$`, r.atLeast(r.gone))
	require.GreaterOrEqual(t, r.both, 20*time.Millisecond)
}

// TestGoneFirst: a command that was gone when the second began has not run beside it.
func TestGoneFirst(t *testing.T) {
	t.Parallel()
	first, second := sleeps(t), sleeps(t)
	require.NoError(t, first.Kill())
	r, err := trial{options: options{most: time.Minute}}.watch(patient.Deadline(t), first, second, time.Now())
	require.NoError(t, err)
	require.False(t, r.outlived)
	require.Zero(t, r.both)
	require.Equal(t, "0.0", r.atLeast(r.both))
}

// sleeps is a command that has begun.
func sleeps(t *testing.T) *runner {
	p, err := child.Start(exec.Command("sleep", "3600"), nil)
	require.NoError(t, err)
	r := &runner{Process: p, pid: p.Pid()}
	t.Cleanup(r.end)
	return r
}

// TestSignalReachesAll: what is paused is the runner with all that it has started.
func TestSignalReachesAll(t *testing.T) {
	t.Parallel()
	p, err := child.Start(exec.Command("sh", "-c", "sleep 3600 & sleep 3600"), nil)
	require.NoError(t, err)
	r := &runner{Process: p, pid: p.Pid()}
	t.Cleanup(r.end)
	var all []int
	for ctx := patient.Deadline(t); len(all) < 2; all = below(p.Pid()) {
		require.True(t, rig.Rest(ctx, look))
	}
	t.Cleanup(func() {
		for _, pid := range all {
			if one, err := os.FindProcess(pid); err == nil {
				_ = one.Kill()
			}
		}
	})
	r.signal(syscall.SIGSTOP)
	for _, pid := range append(all, p.Pid()) {
		for ctx := patient.Deadline(t); state(pid) != "T"; {
			require.True(t, rig.Rest(ctx, look), "process %d is %s", pid, state(pid))
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-scenes", "all"}, {"-trials", "0"}, {"-timeout", "10ms"}, {"-after", "-1s"}, {"-most", "0"}, {"more"},
	} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
}

// TestNoConsul: a binary that is not there ends the command before any server starts.
func TestNoConsul(t *testing.T) {
	o, err := parse([]string{"-consul", "/none/consul"}, io.Discard)
	require.NoError(t, err)
	require.ErrorContains(t, measure(context.Background(), o, io.Discard), "/none/consul")
}
