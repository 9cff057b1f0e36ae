package examples_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEmbedded runs the server as a program, with the other examples as its clients, and stops it as a
// person would.
func TestEmbedded(t *testing.T) {
	command := exec.Command(build(t, "embedded"), "-listen", "127.0.0.1:0,127.0.0.1:0,127.0.0.1:0")
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	defer func() { _ = command.Process.Kill() }()
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	_, servers, _ := strings.Cut(lines.Text(), " at ")
	servers, _, _ = strings.Cut(servers, ";")
	require.Len(t, strings.Split(servers, ","), 3, lines.Text())

	got := execute(t, build(t, "quickstart"), "-zk", servers, "-workers", "4", "-rounds", "2")
	require.Zero(t, got.status, got)
	got = execute(t, build(t, "actors"), "-zk", servers+"/deep")
	require.Zero(t, got.status, got)

	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.True(t, lines.Scan())
	require.Equal(t, "stopped, with 0 sessions open", lines.Text())
	require.NoError(t, command.Wait())
}

// TestRealEmbeddedPortTaken: it says which address it could not have.
func TestRealEmbeddedPortTaken(t *testing.T) {
	program := build(t, "embedded")
	got := execute(t, program, "-listen", "127.0.0.1:1:2")
	require.Equal(t, 1, got.status, got)
	require.Contains(t, got.stderr, "127.0.0.1:1:2")
	require.Empty(t, got.stdout)
}
