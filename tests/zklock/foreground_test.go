//go:build linux

package zklock

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestNobodyReads: standard error is a pipe that is full, as of a pager that somebody looks at. The command is ended all
// the same.
func TestNobodyReads(t *testing.T) {
	at := here(t)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	fd := int(write.Fd())
	require.NoError(t, unix.SetNonblock(fd, true))
	for block := make([]byte, 4096); err == nil; {
		_, err = unix.Write(fd, block)
	}
	require.ErrorIs(t, err, unix.EAGAIN)
	require.NoError(t, unix.SetNonblock(fd, false)) // it is the same for whoever inherits it

	cmd := command(at, patiently("run", "--grace", "200ms", "/full", "--", "sh", "-c", stubborn)...)
	cmd.Stderr = write
	p := launch(t, cmd)
	pids := p.up(t)
	require.Len(t, pids, 2)
	says(t, at, 0, "revoke", "/full")
	requireGone(t, pids)
	awaitQueue(t, at, "/full", 0, 0)
	require.True(t, p.Running(), "it has something to say yet")
	require.NoError(t, write.Close())
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(read)
		text <- string(all)
	}()
	p.ends(t, 80)
	require.Contains(t, <-text, "was killed after 200ms")
}

// shell is an interactive shell with job control, at a terminal of its own.
func shell(t *testing.T, at place) *terminal {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	cmd := exec.Command("bash", "--norc", "--noediting", "-i")
	cmd.Env = append(clean(), "ZOOKEEPER_SERVERS="+at.connect(), "PS1=prompt> ", "Z="+program, "TERM=dumb", "HISTFILE=")
	x := sits(t, cmd)
	x.shows(t, "prompt> ")
	return x
}

// TestTerminalStopsWriters: a terminal that stops who writes to it from the background (stty tostop) does not stop
// zklock when it has to end its command, which has the foreground.
func TestTerminalStopsWriters(t *testing.T) {
	at := here(t)
	x := shell(t, at)
	x.types(t, "stty tostop\n")
	x.types(t, "$Z run --session-timeout 30s --grace 200ms /tostop -- sh -c 'trap \"\" TERM; echo it r\"\"uns; while :; do sleep 0.02; done'\n")
	x.shows(t, "it runs")
	says(t, at, 0, "revoke", "/tostop")
	x.shows(t, "was killed after 200ms")
	x.types(t, "echo status $?\n")
	x.shows(t, "status 80")
	x.types(t, "exit\n")
	x.ends(t, 0)
}

// TestTerminalAfterNothingRan: the terminal is given to the command before the kernel finds that it is no program. It is
// taken back, also for a script, which would not take it itself.
func TestTerminalAfterNothingRan(t *testing.T) {
	at := here(t)
	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte{0x7f, 'E', 'L', 'F', 0}, 0o700))
	cmd := exec.Command("sh", "-c", `"$Z" run --session-timeout 30s /nothing -- "$GARBAGE"; echo status $?; read x; echo "got $x"`)
	cmd.Env = append(clean(), "ZOOKEEPER_SERVERS="+at.connect(), "Z="+program, "GARBAGE="+garbage)
	x := sits(t, cmd)
	x.shows(t, "status 126")
	x.types(t, "a line\n")
	x.shows(t, "got a line")
	x.ends(t, 0)
}
