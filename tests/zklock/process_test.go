package zklock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// process is one run of zklock. Its output goes into files: a process that outlives it would keep a
// pipe open.
type process struct {
	*rig.Process
	stdin    io.WriteCloser
	out, err string
}

// clean is the environment without what would change how zklock behaves.
func clean() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ZOOKEEPER_SERVERS=") && !strings.HasPrefix(v, "ZKLOCK_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// connecting has the commands that connect.
var connecting = strings.Fields("run hold permits queue tree trace graph revoke break doctor")

// command is zklock at a place, with what a person types: each % of the line stands for one of more, and the others
// follow the line. The session outlasts a slow machine, and so does the attempt to connect, unless the line has other
// times.
func command(at place, line string, more ...string) *exec.Cmd {
	args := strings.Fields(line)
	for i, arg := range args {
		if arg == "%" {
			args[i], more = more[0], more[1:]
		}
	}
	if len(args) > 0 && slices.Contains(connecting, args[0]) && !strings.Contains(line, "session-timeout") && !strings.Contains(line, "connect-timeout") {
		args = slices.Insert(args, 1, "--session-timeout", scene.Session.String(), "--connect-timeout", scene.Bound.String())
	}
	cmd := exec.Command(program, append(args, more...)...)
	cmd.Env = append(clean(), "ZOOKEEPER_SERVERS="+at.connect())
	return cmd
}

// start starts zklock. It is killed with the test.
func start(t *testing.T, at place, line string, more ...string) *process {
	t.Helper()
	return launch(t, command(at, line, more...))
}

func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	folder := t.TempDir()
	p := &process{out: filepath.Join(folder, "out"), err: filepath.Join(folder, "err")}
	stdout, err := os.Create(p.out)
	require.NoError(t, err)
	defer stdout.Close()
	stderr, err := os.Create(p.err)
	require.NoError(t, err)
	defer stderr.Close()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	t.Cleanup(func() { write.Close() })
	p.stdin = write
	t.Cleanup(func() { // once it has been killed
		if err := scene.SaidRelists(p.stderr(t)); err != nil {
			t.Error(err)
		}
	})
	cmd.Stdin, cmd.Stdout = read, stdout
	if cmd.Stderr == nil {
		cmd.Stderr = stderr
	}
	p.Process, err = rig.StartProcess(cmd, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// runs starts zklock run and waits until its command runs, which says so by "up" and the numbers of its processes.
func runs(t *testing.T, at place, line string, more ...string) (p *process, pids []int) {
	t.Helper()
	p = start(t, at, line, more...)
	return p, p.up(t)
}

// up waits until the command has said "up", with the numbers of its processes.
func (p *process) up(t *testing.T) (pids []int) {
	t.Helper()
	var line string
	scene.Eventually(t, func() bool {
		for l := range strings.SplitSeq(p.stdout(t), "\n") {
			if strings.HasPrefix(l, "up ") && strings.HasSuffix(l, " .") {
				line = l
			}
		}
		return line != "" || !p.Running()
	}, "the command of %v never ran", p.Pid())
	require.NotEmpty(t, line, "zklock ended before: %s", p.stderr(t))
	for _, field := range strings.Fields(line)[1:] {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *process) stdout(t *testing.T) string { return read(t, p.out) }
func (p *process) stderr(t *testing.T) string { return read(t, p.err) }

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// ends waits until it has ended, and requires an exit status.
func (p *process) ends(t *testing.T, status int) {
	t.Helper()
	select {
	case <-p.Exited():
	case <-scene.Deadline(t).Done():
		require.FailNow(t, "zklock never ended", "%s\n%s", p.stdout(t), p.stderr(t))
	}
	got := 0
	if exit := new(exec.ExitError); errors.As(p.Err(), &exit) {
		got = exit.ExitCode()
	} else {
		require.NoError(t, p.Err())
	}
	require.Equal(t, status, got, "stdout: %s\nstderr: %s", p.stdout(t), p.stderr(t))
}

// letGo ends a command that reads its standard input to the end.
func (p *process) letGo() { p.stdin.Close() }

// leaves has such a command give the lock back.
func (p *process) leaves(t *testing.T) {
	t.Helper()
	p.letGo()
	p.ends(t, 0)
}

func (p *process) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(p.Pid(), s))
}

// says runs zklock to its end and gives what it printed.
func says(t *testing.T, at place, status int, line string, more ...string) (stdout, stderr string) {
	t.Helper()
	p := start(t, at, line, more...)
	p.letGo()
	p.ends(t, status)
	return p.stdout(t), p.stderr(t)
}

// parsed runs zklock to its end and reads the JSON that it printed.
func parsed[V any](t *testing.T, at place, status int, line string, more ...string) (v V) {
	t.Helper()
	text, _ := says(t, at, status, line, more...)
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

// alive reports whether a process runs: a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		if _, noProc := os.Stat("/proc/self/stat"); noProc != nil {
			return syscall.Kill(pid, 0) == nil
		}
		return false
	}
	text := string(stat)
	_, state, _ := strings.Cut(text[strings.LastIndexByte(text, ')')+1:], " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// The commands that tests run. Each says "up", the numbers of its processes, and "." when it is ready.
const (
	// holding runs until the end of its standard input.
	holding = `echo up $$ .; cat >/dev/null`
	// stubborn does not listen to SIGTERM, and neither does its child.
	stubborn = `trap "" TERM; sleep 1000 & echo up $$ $! .; while :; do sleep 0.02; done`
	// polite ends when it gets SIGTERM.
	polite = `trap "echo bye; exit 3" TERM; echo up $$ .; while :; do sleep 0.02; done`
	// family has a child that ignores the end of its parent.
	family = `sleep 1000 & echo up $$ $! .; wait`
)
