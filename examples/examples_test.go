// Package examples_test builds the examples and runs them: each one is also a check.
package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// outcome is the exit status of a program and its output.
type outcome struct {
	status         int
	stdout, stderr string
}

// last is the last line of what it printed.
func (o outcome) last() string {
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	return lines[len(lines)-1]
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d\n%s\n%s", o.status, o.stdout, o.stderr)
}

// build builds an example and gives its file.
func build(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./"+name).CombinedOutput()
	require.NoError(t, err, string(output))
	return program
}

// execute runs a program to its end.
func execute(t *testing.T, program string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, scene.SaidRelists(stderr.String()), program)
	require.NoError(t, ctx.Err(), "%s never ended:\n%s\n%s", program, stdout.String(), stderr.String())
	return outcome{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// eachServer runs a test on the server that the examples bring, on one that listens, and on a real one
// where that is installed. The flags tell the example which.
func eachServer(t *testing.T, chroot string, run func(t *testing.T, flags ...string)) {
	t.Run("own", func(t *testing.T) { run(t) })
	t.Run("embedded", func(t *testing.T) { run(t, "-zk", embedded.Run(t).Addr()+chroot) })
	t.Run("standalone", func(t *testing.T) { run(t, "-zk", rig.StartStandalone(t).Addr()+chroot) })
}

// granted is a transition to held of a request that has not held before: after a stall a hold is resumed, by way of
// recovering.
var granted = regexp.MustCompile(`(creating|listing|watching) +→ held `)

func TestQuickstart(t *testing.T) {
	program := build(t, "quickstart")
	eachServer(t, "", func(t *testing.T, flags ...string) {
		got := execute(t, program, append(flags, "-workers", "6", "-rounds", "4", "-sessions", "3")...)
		require.Zero(t, got.status, got)
		require.Equal(t, "ok: 24 grants, at most 1 holder at a time, tokens strictly increasing", got.last())
		require.Empty(t, got.stderr)
		require.Len(t, granted.FindAllString(got.stdout, -1), 24, got)
		require.Equal(t, len(flags) == 0, strings.HasPrefix(got.stdout, "no -zk: "), got)
	})
}

func TestActors(t *testing.T) {
	program := build(t, "actors")
	eachServer(t, "/in/a/chroot", func(t *testing.T, flags ...string) {
		for range 3 { // it leaves nothing that would be in the way of the next
			got := execute(t, program, flags...)
			require.Zero(t, got.status, got)
			require.True(t, strings.HasPrefix(got.last(), "ok: "), got)
			require.Empty(t, got.stderr)
			require.Len(t, granted.FindAllString(got.stdout, -1), 2, got)
			require.LessOrEqual(t, strings.Count(got.stdout, "held       → revoking "), 1, got)
			require.Regexp(t, `(held|recovering) +→ revoking `, got.stdout)
			require.Equal(t, 2, strings.Count(got.stdout, "→ released "), got)
		}
	})
}

// TestRealCluster: three nodes in processes of their own, of which one is killed and one cut off. The
// last line is the verdict of the witness.
func TestRealCluster(t *testing.T) {
	got := execute(t, build(t, "cluster"))
	require.Zero(t, got.status, got)
	require.Regexp(t, `^ok: \d+ grants on 3 nodes, .*: never more than one valid holder, tokens strictly increasing$`,
		got.last())
	require.Empty(t, got.stderr)
	for _, node := range []string{"a", "b", "c"} {
		require.Regexp(t, `(?m)^ *[0-9.]+  `+node+`  worker [12] +holds lock +token \d+`, got.stdout)
	}
	require.Contains(t, got.stdout, "--- a is killed")
	require.Regexp(t, "--- the singleton has moved from a to [bc]", got.stdout)
	require.Contains(t, got.stdout, "--- c is cut off from the other nodes")
	require.Regexp(t, `c  worker [12] +has lost lock +token \d+`, got.stdout)
	require.Contains(t, got.stdout, "--- c is back")
}

// TestRealDeadServer: nobody listens there. The examples say so, and where, and do not hang.
func TestRealDeadServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dead := listener.Addr().String()
	require.NoError(t, listener.Close())
	for _, name := range []string{"quickstart", "actors"} {
		got := execute(t, build(t, name), "-zk", dead, "-limit", "500ms")
		require.Equal(t, 1, got.status, got)
		require.Contains(t, got.stderr, dead)
		require.NotContains(t, got.stdout, "ok:")
	}
}

func TestRealBadFlags(t *testing.T) {
	for name, cases := range map[string][][]string{
		"quickstart": {{"-workers", "0"}, {"-zk", "localhost", "more"}, {"-unknown"}, {"-zk", "localhost", "-hold", "long"}},
		"actors":     {{"-zk", "localhost", "more"}, {"-unknown"}, {"-zk", "localhost", "-limit", "long"}},
		"embedded":   {{"127.0.0.1:2181"}, {"-unknown"}, {"-tick", "long"}},
	} {
		program := build(t, name)
		for _, args := range cases {
			got := execute(t, program, args...)
			require.Equal(t, 2, got.status, "%v: %v", args, got)
			require.Contains(t, got.stderr, "Usage of ")
			require.Empty(t, got.stdout)
		}
	}
}
