//go:build linux

package zklock

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestNobodyReads: standard error is a pipe that is full, as of a pager that somebody looks at. The command is ended all
// the same.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
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
	require.NoError(t, unix.SetNonblock(fd, false)) // processes that inherit it share the setting

	cmd := command(at, "run --grace 200ms /full -- sh -c", stubborn)
	cmd.Stderr = write
	p := launch(t, cmd)
	pids := p.up(t)
	require.Len(t, pids, 2)
	says(t, at, 0, "revoke /full")
	requireGone(t, pids)
	awaitQueue(t, at, "/full", 0, 0)
	require.True(t, p.Running(), "it has something to say yet")
	require.NoError(t, write.Close())
	text := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(read)
		text <- string(all)
	}()
	p.ends(t, 80)
	select {
	case all := <-text:
		require.Contains(t, all, "was killed after 200ms")
	case <-scene.Deadline(t).Done():
		require.FailNow(t, "somebody keeps the pipe open")
	}
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
	t.Cleanup(func() { // of a test that failed: a shell that is killed would leave its jobs behind, which keep the terminal
		if cmd.Process.Signal(unix.SIGHUP) == nil {
			select {
			case <-x.over:
			case <-time.After(scene.Bound):
			}
		}
	})
	x.shows(t, "prompt> ")
	return x
}

// TestTerminalStopsWriters: a terminal that stops background processes that write to it (stty
// tostop) does not stop zklock when it has to end its command, which has the foreground.
func TestTerminalStopsWriters(t *testing.T) {
	t.Parallel()
	at := here(t)
	x := shell(t, at)
	x.types(t, "stty tostop\n")
	x.types(t, "$Z run --session-timeout 30s --grace 200ms /tostop -- sh -c 'trap \"\" TERM; echo it r\"\"uns; while :; do sleep 0.02; done'\n")
	x.shows(t, "it runs")
	says(t, at, 0, "revoke /tostop")
	x.shows(t, "was killed after 200ms")
	x.types(t, "echo status $?\n")
	x.shows(t, "status 80")
	x.types(t, "exit\n")
	x.ends(t, 0)
}

// TestTerminalAfterNothingRan: the terminal is given to the command before the kernel finds that it is no program. It is
// taken back, also for a script, which would not take it itself.
func TestTerminalAfterNothingRan(t *testing.T) {
	t.Parallel()
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

// TestTerminalOnDemand: where the input or the output of zklock is a pipe, the command gets the terminal when it opens it,
// as programs do that ask for a password or show pages; in a script and in a shell with job control. Then the script has
// it again.
func TestTerminalOnDemand(t *testing.T) {
	t.Parallel()
	at := here(t)
	run := `"$Z" run --session-timeout 30s --connect-timeout 60s /demand -- `
	input := `echo data | ` + run + `sh -c 'read pw </dev/tty; read line; echo "pw=$pw line=$line"'`
	output := run + `sh -c 'read answer; echo "answer=$answer"' | cat`

	script := exec.Command("sh", "-c", input+"; echo status $?; read x; echo \"got $x\"; "+output)
	script.Env = append(clean(), "ZOOKEEPER_SERVERS="+at.connect(), "Z="+program)
	x := sits(t, script)
	x.types(t, "secret\n")
	x.shows(t, "pw=secret line=data")
	x.shows(t, "status 0")
	x.types(t, "a line\n")
	x.shows(t, "got a line")
	x.types(t, "yes\n")
	x.shows(t, "answer=yes")
	x.ends(t, 0)

	x = shell(t, at)
	for _, line := range []string{input, output} {
		x.types(t, line+"\n")
		awaitQueue(t, at, "/demand", 1, 0)
		x.types(t, "typed\n")
		awaitQueue(t, at, "/demand", 0, 0)
	}
	x.shows(t, "pw=typed line=data")
	x.shows(t, "answer=typed")
	require.NotContains(t, x.text(), "Stopped")
	x.types(t, "exit\n")
	x.ends(t, 0)
}

// TestStoppedAtTheTerminal: Ctrl-Z stops zklock as well as the command, and the shell goes on; the job goes on with fg.
func TestStoppedAtTheTerminal(t *testing.T) {
	t.Parallel()
	at := here(t)
	x := shell(t, at)
	x.types(t, "$Z run --session-timeout 30s /job -- sh -c 'echo it r\"\"uns; read x; echo got $x; exit 6'\n")
	x.shows(t, "it runs")
	x.types(t, "\x1a")
	x.shows(t, "Stopped")
	x.types(t, "echo the sh\"\"ell\n")
	x.shows(t, "the shell")
	awaitQueue(t, at, "/job", 1, 0)
	x.types(t, "fg\n")
	x.types(t, "word\n")
	x.shows(t, "got word")
	x.types(t, "echo status $?\n")
	x.shows(t, "status 6")

	// In the background it stops when it wants the terminal, and has it when it is in the foreground.
	x.types(t, "$Z run --session-timeout 30s /job -- sh -c 'read x; echo had $x; exit 7' &\n")
	awaitQueue(t, at, "/job", 1, 0)
	scene.Eventually(t, func() bool {
		x.types(t, "jobs\n")
		return strings.Count(x.text(), "Stopped") > 1
	}, "it never stopped")
	x.types(t, "fg\n")
	x.types(t, "another\n")
	x.shows(t, "had another")
	x.types(t, "echo status $?\n")
	x.shows(t, "status 7")
	x.types(t, "exit\n")
	x.ends(t, 0)
}

// TestProgressOfAJob: a job in the background draws nothing on the terminal, where somebody types something else by now.
// It does when it is in the foreground.
func TestProgressOfAJob(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run /p -- sh -c", holding)
	x := shell(t, at)
	x.types(t, "$Z run --session-timeout 30s /p -- echo it r\"\"uns &\n")
	awaitQueue(t, at, "/p", 1, 1)
	later := sits(t, command(at, "run /p -- true"))
	later.shows(t, "3rd in line") // and so the one before would have drawn
	require.NotContains(t, x.text(), "\x1b[K")
	x.types(t, "fg\n")
	x.shows(t, "2nd in line")
	holder.leaves(t)
	x.shows(t, "it runs")
	later.ends(t, 0)
	x.types(t, "exit\n")
	x.ends(t, 0)
}
