package zklock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// awaitQueue waits until so many hold a lock and so many wait, as a client sees it from outside.
func awaitQueue(t *testing.T, at place, path string, holders, waiters int) []messages.Contender {
	t.Helper()
	client := at.client(t)
	var queue []messages.Contender
	scene.Eventually(t, func() bool {
		var err error
		queue, err = client.Queue(scene.Deadline(t), path)
		require.NoError(t, err)
		held := 0
		for _, c := range queue {
			if c.Holds {
				held++
			}
		}
		return held == holders && len(queue)-held == waiters
	}, "%s never had %d holders and %d waiters", path, holders, waiters)
	return queue
}

// TestExclusion: twenty processes want one lock. The witness is a file to which each command appends when it starts
// and when it ends; the kernel appends lines whole.
func TestExclusion(t *testing.T) {
	t.Parallel()
	const processes = 20
	at := here(t)
	log := filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf(`echo start $ZKLOCK_TOKEN >>%[1]s; sleep 0.01; echo end $ZKLOCK_TOKEN >>%[1]s`, log)
	var all []*process
	for range processes {
		all = append(all, start(t, at, "run /exclusive -- sh -c", script))
	}
	for _, p := range all {
		p.ends(t, 0)
		require.Empty(t, p.stderr(t))
	}
	lines := strings.Fields(read(t, log))
	require.Len(t, lines, 4*processes)
	newest := int64(0)
	for i := 0; i < len(lines); i += 4 {
		require.Equal(t, []string{"start", "end"}, []string{lines[i], lines[i+2]}, "two at a time: %v", lines)
		require.Equal(t, lines[i+1], lines[i+3], "two at a time: %v", lines)
		token, err := strconv.ParseInt(lines[i+1], 10, 64)
		require.NoError(t, err)
		require.Greater(t, token, newest)
		newest = token
	}
	awaitQueue(t, at, "/exclusive", 0, 0)
}

// TestShared: runs with --shared hold together. A run without it waits for all of them, and they
// wait for it.
func TestShared(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		var readers []*process
		for range 3 {
			p, _ := runs(t, at, "run --shared /s -- sh -c", holding)
			readers = append(readers, p)
		}
		writer := start(t, at, "run /s -- sh -c", holding)
		awaitQueue(t, at, "/s", 3, 1)
		late := start(t, at, "run --shared /s -- sh -c", holding)
		awaitQueue(t, at, "/s", 3, 2)
		for _, p := range readers {
			p.leaves(t)
		}
		writer.up(t)
		awaitQueue(t, at, "/s", 1, 1)
		writer.leaves(t)
		late.up(t)
		late.leaves(t)
	})
}

// TestStatuses: the command's own status is zklock's.
func TestStatuses(t *testing.T) {
	t.Parallel()
	at := here(t)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("no program\n"), 0o600))
	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte{0x7f, 'E', 'L', 'F', 0}, 0o700))
	for _, c := range []struct {
		status  int
		command []string
	}{
		{7, []string{"sh", "-c", "exit 7"}},
		{255, []string{"sh", "-c", "exit 255"}},
		{137, []string{"sh", "-c", "kill -KILL $$"}},
		{126, []string{plain}},
		{127, []string{"no-such-command-anywhere"}},
	} {
		says(t, at, c.status, "run /st --", c.command...)
	}
	_, stderr := says(t, at, 126, "run /st --", garbage)
	require.Contains(t, stderr, "cannot be run")
	orphan := filepath.Join(t.TempDir(), "orphan")
	require.NoError(t, os.WriteFile(orphan, []byte("#!/no/such/interpreter\n"), 0o700))
	_, stderr = says(t, at, 126, "run /st --", orphan)
	require.Contains(t, stderr, "the interpreter that it names is not there", "the command is there")
	awaitQueue(t, at, "/st", 0, 0)
}

// TestNotRun: where the wait is over, or as many hold or wait as --max-waiters says, the command is not run, and nothing
// is left in the queue.
func TestNotRun(t *testing.T) {
	t.Parallel()
	at := here(t)
	var holders []*process
	for _, line := range []string{"run --max-waiters 1 /m", "run --shared /s", "run --permits 1 /p"} {
		holder, _ := runs(t, at, line+" -- sh -c", holding)
		holders = append(holders, holder)
	}
	const over, full = "the command was not run", "1 or more are before it in the queue; the command was not run (zklock queue /"
	for line, text := range map[string]string{
		"run --wait 0 /m": over, "run --wait 5s /m": over, "run -n --shared /m": over, "run -n /s": over, "run -w 2.5 /s": over,
		"run --permits 1 -n /p":  over,
		"run --max-waiters 1 /m": full, "run --wait 1m --max-waiters 1 /m": full,
		"run --wait 1m --at-most-every 1h --max-waiters 1 /m": full, "run --max-waiters 1 /s": full, "run --shared --max-waiters 1 /m": full,
		"run --permits 1 --max-waiters 1 /p": full,
	} {
		stdout, stderr := says(t, at, 75, line+" -- echo ran")
		require.Empty(t, stdout, line)
		require.Contains(t, stderr, text, line)
	}
	stdout, _ := says(t, at, 0, "run -n --shared /s -- echo ran")
	require.Equal(t, "ran\n", stdout)
	for i, path := range []string{"/m", "/s", "/p"} {
		awaitQueue(t, at, path, 1, 0)
		holders[i].leaves(t)
		says(t, at, 0, "run --wait 0 "+path+" -- true")
	}
}

// TestEnvironmentAndFiles: the command sees the lock in its environment, and has zklock's standard files.
func TestEnvironmentAndFiles(t *testing.T) {
	t.Parallel()
	at := here(t)
	p := start(t, at, "run --label % /a/lock -- sh -c", "a label", `echo "$ZKLOCK_PATH $ZKLOCK_NODE $ZKLOCK_TOKEN"; echo up .; cat; echo to stderr >&2`)
	p.up(t)
	holder := awaitQueue(t, at, "/a/lock", 1, 0)[0]
	require.Equal(t, "a label", holder.Label)
	_, err := p.stdin.Write([]byte("through\n"))
	require.NoError(t, err)
	p.leaves(t)
	require.Equal(t, fmt.Sprintf("/a/lock %s %v\nup .\nthrough\n", holder.Node, holder.Token), p.stdout(t))
	require.Equal(t, "to stderr\n", p.stderr(t))
}

// TestCredentialsOfTheCommand: the command has those of zklock, for a zklock inside, unless it is to have none.
func TestCredentialsOfTheCommand(t *testing.T) {
	t.Parallel()
	at := here(t)
	for flag, has := range map[string]string{"--keep": "digest:ann:secret hidden\n", "--no-credentials": " \n"} {
		cmd := command(at, "run % /c -- sh -c", flag, `echo "$ZKLOCK_AUTH $ZKLOCK_SASL_PASSWORD"`)
		cmd.Env = append(cmd.Env, "ZKLOCK_AUTH=digest:ann:secret", "ZKLOCK_SASL_PASSWORD=hidden")
		p := launch(t, cmd)
		p.ends(t, 0)
		require.Equal(t, has, p.stdout(t), flag)
	}
}

// TestSignalWhileWaiting ends zklock with the signal's status, and leaves no node.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run /w -- sh -c", holding)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		waiter := start(t, at, "run /w -- true")
		awaitQueue(t, at, "/w", 1, 1)
		waiter.send(t, s)
		waiter.ends(t, 128+int(s))
		awaitQueue(t, at, "/w", 1, 0)
	}
	holder.leaves(t)
}

// TestSignals: the command gets what zklock gets, and so does what it has started.
func TestSignals(t *testing.T) {
	t.Parallel()
	at := here(t)
	for name, s := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2} {
		script := fmt.Sprintf(`trap "echo got %[1]s; exit 9" %[1]s; echo up $$ .; while :; do sleep 0.02; done`, name)
		p, _ := runs(t, at, "run /sig -- sh -c", script)
		p.send(t, s)
		p.ends(t, 9)
		require.Contains(t, p.stdout(t), "got "+name)
		require.NotContains(t, p.stderr(t), "zklock:")
	}
	p, pids := runs(t, at, "run /sig -- sh -c", family)
	p.send(t, syscall.SIGTERM)
	p.ends(t, 128+int(syscall.SIGTERM))
	for _, pid := range pids {
		scene.Eventually(t, func() bool { return !alive(pid) }, "process %d never heard of the signal", pid)
	}
}
