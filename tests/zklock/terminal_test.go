//go:build linux

package zklock

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// terminal is a zklock at a terminal of its own, 80 columns wide.
type terminal struct {
	cmd  *exec.Cmd
	side *os.File // ours: what is written there is typed
	far  *os.File // the program's, kept open to look at its settings

	before unix.Termios // what those were when the command was started

	mu    sync.Mutex
	shown strings.Builder
	read  chan struct{}
	over  chan error
}

// sits starts a command at a terminal.
func sits(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	side, far := openTerminal(t)
	x := &terminal{cmd: cmd, side: side, far: far, read: make(chan struct{}), over: make(chan error, 1)}
	x.before = x.settings(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	go func() { x.over <- cmd.Wait() }()
	go func() {
		defer close(x.read)
		for buffer := make([]byte, 4096); ; {
			n, err := side.Read(buffer)
			x.mu.Lock()
			x.shown.Write(buffer[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		far.Close()
		<-x.read
		side.Close()
		if err := scene.SaidRelists(x.text()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// openTerminal makes a terminal of 80 columns, and opens its two sides: ours, and the program's.
func openTerminal(t *testing.T) (side, far *os.File) {
	t.Helper()
	side, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	descriptor := int(side.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(descriptor, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetUint32(descriptor, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(descriptor, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return side, far
}

// text is all that was shown.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown.String()
}

func (x *terminal) shows(t *testing.T, what string) {
	t.Helper()
	scene.Eventually(t, func() bool { return strings.Contains(x.text(), what) }, "%q was never shown", what)
}

func (x *terminal) types(t *testing.T, keys string) {
	t.Helper()
	_, err := x.side.WriteString(keys)
	require.NoError(t, err)
}

// ends waits for the end of the program.
func (x *terminal) ends(t *testing.T, status int) {
	t.Helper()
	select {
	case <-x.over:
	case <-scene.Deadline(t).Done():
		require.FailNow(t, "it never ended", x.text())
	}
	require.Equal(t, status, x.cmd.ProcessState.ExitCode(), x.text())
}

// settings gives the settings of the terminal.
func (x *terminal) settings(t *testing.T) unix.Termios {
	t.Helper()
	got, err := unix.IoctlGetTermios(int(x.far.Fd()), unix.TCGETS)
	require.NoError(t, err)
	return *got
}

// TestInteractive: the command has the terminal: it reads from it, and gets what Ctrl-C sends.
func TestInteractive(t *testing.T) {
	t.Parallel()
	at := here(t)
	x := sits(t, command(at, "run /i -- sh -c", `trap "echo interrupted; exit 4" INT; [ -t 0 ] && [ -t 1 ] && echo a terminal; read name; echo "hello $name"; echo up; while :; do sleep 0.02; done`))
	x.shows(t, "a terminal")
	x.types(t, "bob\n")
	x.shows(t, "hello bob")
	x.types(t, "\x03")
	x.shows(t, "interrupted")
	x.ends(t, 4)
	require.NotContains(t, x.text(), "zklock:")
}

// TestTerminalIsMended: a command that is killed leaves the terminal without echo; zklock leaves it as it was.
func TestTerminalIsMended(t *testing.T) {
	t.Parallel()
	at := here(t)
	x := sits(t, command(at, "run --grace 200ms /i -- sh -c", `stty -echo raw; trap "" TERM; echo up; while :; do sleep 0.02; done`))
	x.shows(t, "up")
	require.NotEqual(t, x.before, x.settings(t))
	says(t, at, 0, "revoke /i")
	x.ends(t, 80)
	require.Equal(t, x.before, x.settings(t))
}

// TestProgress: a line while the lock is waited for, where standard error is a terminal; it is wiped out.
func TestProgress(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run --label nightly /p -- sh -c", holding)
	x := sits(t, command(at, "run /p -- echo", "it runs"))
	x.shows(t, "for /p · 2nd in line · held by ")
	x.shows(t, "“nightly”")
	holder.leaves(t)
	x.ends(t, 0)
	x.shows(t, "\r\x1b[Kit runs")
}

// TestWatch: a live view, on a screen of its own; the terminal is as it was when it ends, by a key or by a signal.
func TestWatch(t *testing.T) {
	t.Parallel()
	at := here(t)
	for _, line := range []string{"queue --watch /live", "tree --watch --long /"} {
		for how, quit := range map[string]func(x *terminal){
			"q":       func(x *terminal) { x.types(t, "q") },
			"Ctrl-C":  func(x *terminal) { x.types(t, "\x03") },
			"SIGTERM": func(x *terminal) { require.NoError(t, x.cmd.Process.Signal(syscall.SIGTERM)) },
			"SIGHUP":  func(x *terminal) { require.NoError(t, x.cmd.Process.Signal(syscall.SIGHUP)) },
			"SIGQUIT": func(x *terminal) { require.NoError(t, x.cmd.Process.Signal(syscall.SIGQUIT)) },
		} {
			t.Run(line[:5]+how, func(t *testing.T) {
				x := sits(t, command(at, line))
				x.shows(t, "\x1b[?1049h")
				x.shows(t, "q quits")
				p, _ := runs(t, at, "run --label % /live -- sh -c", "seen live", holding)
				x.shows(t, "seen live")
				p.leaves(t)
				quit(x)
				x.ends(t, map[string]int{"SIGTERM": 128 + 15, "SIGHUP": 128 + 1, "SIGQUIT": 128 + 3}[how])
				x.shows(t, "\x1b[?25h\x1b[?1049l")
				require.Equal(t, x.before, x.settings(t))
			})
		}
	}
}

// TestWatchWithoutServers: a view of the past says that it is one.
func TestWatchWithoutServers(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"queue --watch /live", "tree --watch /"} {
		seen, proxy := here(t).behind(t)
		x := sits(t, command(seen, line))
		x.shows(t, "q quits")
		require.NotContains(t, x.text(), "NOT CONNECTED")
		proxy.Refuse(true)
		proxy.Cut()
		x.shows(t, "NOT CONNECTED, this is how it was: ")
		proxy.Refuse(false)
		scene.Eventually(t, func() bool {
			drawn := x.text()[strings.LastIndex(x.text(), "\x1b[H")+1:]
			return strings.Contains(drawn, "q quits") && !strings.Contains(drawn, "NOT CONNECTED")
		}, "it does not go on")
		x.types(t, "q")
		x.ends(t, 0)
	}
}

// TestBreakAsks: at a terminal; only a yes is one.
func TestBreakAsks(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run --label nightly /b -- sh -c", holding)
	for answer, status := range map[string]int{"n": 1, "": 1, "yeah": 1} {
		x := sits(t, command(at, "break /b 0"))
		x.shows(t, "“nightly”")
		x.shows(t, "[y/N] ")
		x.types(t, answer+"\n")
		x.ends(t, status)
		x.shows(t, "nothing was done")
	}
	awaitQueue(t, at, "/b", 1, 0)
	x := sits(t, command(at, "break /b 0"))
	x.shows(t, "[y/N] ")
	x.types(t, "y\n")
	x.ends(t, 0)
	x.shows(t, "broken: number 0")
	holder.ends(t, 79)
}
