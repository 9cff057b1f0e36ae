package zklock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// loses has a zklock run behind a proxy, and its session ended. It gives the numbers of the command's processes.
func loses(t *testing.T, at place, line string, more ...string) (p *process, pids []int) {
	t.Helper()
	seen, proxy := at.behind(t)
	p, pids = runs(t, seen, line, more...)
	expire(t, at, proxy)
	return p, pids
}

// expire ends the session of the client behind a proxy, at the server. A member of an ensemble may leave an attempt
// without an answer, so there are several. A later one may find that the session is not known any more.
func expire(t *testing.T, at place, proxy *rig.Proxy) {
	t.Helper()
	id, password, ok := proxy.Session()
	require.True(t, ok)
	for attempt := 0; ; attempt++ {
		ctx, cancel := context.WithTimeout(scene.Deadline(t), scene.Bound/6)
		err := rig.ExpireSession(ctx, at.addr, id, password)
		cancel()
		if err == nil || attempt > 0 && errors.Is(err, rig.ErrNoSession) {
			return
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, attempt, 6)
	}
}

// requireGone requires that no process is left. Processes that zklock has waited for are gone when
// it has ended; the kernel may still be clearing others away.
func requireGone(t *testing.T, pids []int) {
	t.Helper()
	require.NotEmpty(t, pids)
	for _, pid := range pids {
		scene.Eventually(t, func() bool { return !alive(pid) }, "process %d is still there", pid)
	}
}

// TestSessionExpires: the command is told, its own status does not count, and zklock's says that the lock was lost.
func TestSessionExpires(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		p, pids := loses(t, at, "run /lost -- sh -c", polite)
		p.ends(t, 79)
		require.False(t, alive(pids[0]), "the command's own process is reaped before zklock ends")
		require.Contains(t, p.stdout(t), "bye", "it was asked first")
		require.Contains(t, p.stderr(t), "the lock was lost")
		require.Contains(t, p.stderr(t), "ended with status 3")
		awaitQueue(t, at, "/lost", 0, 0)
	})
}

// TestStubborn: a command that ignores SIGTERM, and its child that does, get SIGKILL after the grace period, and not
// before. So does a child that is left behind by a command that ends at once.
func TestStubborn(t *testing.T) {
	t.Parallel()
	at := here(t)
	begun := time.Now()
	p, pids := loses(t, at, "run --grace 1s /lost -- sh -c", stubborn)
	p.ends(t, 79)
	require.GreaterOrEqual(t, time.Since(begun), time.Second)
	require.Len(t, pids, 2)
	requireGone(t, pids)
	require.Contains(t, p.stderr(t), "was killed after 1s")
	p, pids = loses(t, at, "run --grace 500ms /lost -- sh -c",
		`(trap "" TERM; exec sleep 1000) & trap "exit 0" TERM; echo up $$ $! .; while :; do sleep 0.02; done`)
	require.Len(t, pids, 2)
	p.ends(t, 79)
	requireGone(t, pids)
}

// jobs is a shell with job control, whose child has a process group of its own and does not listen to SIGTERM.
const jobs = `set -m; (trap "" TERM; exec sleep 1000) & echo up $$ $! .; trap "exit 0" TERM; while :; do sleep 0.02; done`

// requireJobs skips where that cannot be shown.
func requireJobs(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS != "linux" {
		t.Skip("this takes bash, and Linux to find its jobs")
	}
}

// TestJobsAreEnded: also what has a process group of its own goes when the lock is lost, but only then.
func TestJobsAreEnded(t *testing.T) {
	t.Parallel()
	requireJobs(t)
	at := here(t)
	p, pids := loses(t, at, "run --grace 500ms /lost -- bash -c", jobs)
	require.Len(t, pids, 2)
	p.ends(t, 79)
	requireGone(t, pids)

	p, pids = runs(t, at, "run /lost -- bash -c", `set -m; sleep 1000 & echo up $$ $! .; cat`)
	require.Len(t, pids, 2)
	p.leaves(t)
	require.True(t, alive(pids[1]), "what is left running in the background is left alone")
	require.NoError(t, kill(pids[1]))
}

// TestEarly: nothing is heard of the servers until the lease is nearly over. Without --early TestGoneBeforeTheNext has it.
func TestEarly(t *testing.T) {
	t.Parallel()
	for attempt := 1; ; attempt++ {
		seen, proxy := here(t).behind(t)
		p, pids := runs(t, seen, "run --early --grace 2s --session-timeout 20s /lost -- sh -c", polite)
		proxy.Refuse(true)
		proxy.Cut()
		p.ends(t, 79)
		require.False(t, alive(pids[0]))
		if strings.Contains(p.stderr(t), "the lease is about to end") {
			return
		}
		require.Less(t, attempt, 3, "a machine may stand still from the warning to the end: %s", p.stderr(t))
	}
}

// TestEarlyWithShortLeases: the servers grant a third of the session timeout that was asked for, and so the lease is never
// as long as --early takes it to be. The command is not run, rather than ended though nothing is wrong.
func TestEarlyWithShortLeases(t *testing.T) {
	t.Parallel()
	at := place{addr: embedded.Run(t, embedded.WithSessionTimeouts(time.Second, 20*time.Second)).Addr()}
	const line = "run --early --grace % --session-timeout 60s /short -- echo it runs"
	stdout, stderr := says(t, at, 64, line, "6s")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "the servers grant a session timeout of 20s in place of 1m0s")
	require.Contains(t, stderr, "; type: zklock run --early --grace ")
	awaitQueue(t, at, "/short", 0, 0)
	says(t, at, 0, line, "500ms")
}

// TestStoppedCommandIsEnded: one that does not run at the moment hears of it all the same.
func TestStoppedCommandIsEnded(t *testing.T) {
	t.Parallel()
	at := here(t)
	seen, proxy := at.behind(t)
	p, pids := runs(t, seen, "run --grace 30s /lost -- sh -c", polite)
	require.NoError(t, syscall.Kill(pids[0], syscall.SIGSTOP))
	expire(t, at, proxy)
	p.ends(t, 79)
	require.Contains(t, p.stdout(t), "bye")
}

// TestBreak: a holder that is broken has lost the lock, and the next has it. A part of the node's name will do, where no
// other has it.
func TestBreak(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run --label % /b -- sh -c", "the first", polite)
	next := start(t, at, "run /b -- sh -c", holding)
	awaitQueue(t, at, "/b", 1, 1)
	last := start(t, at, "run /b -- true")
	queue := awaitQueue(t, at, "/b", 1, 2)
	_, stderr := says(t, at, 64, "break --yes /b lock-")
	require.Contains(t, stderr, `fits 3 contenders`)
	_, stderr = says(t, at, 64, "break --yes /b", "") // a variable of a script that is not set, though each name has it as a part
	require.Contains(t, stderr, "break: CONTENDER is empty; type: zklock break PATH CONTENDER")
	awaitQueue(t, at, "/b", 1, 2)
	number := strconv.Itoa(int(queue[0].Sequence))
	stdout, _ := says(t, at, 0, "break --yes /b", number)
	require.Contains(t, stdout, "broken: number "+number)
	require.Contains(t, stdout, "the first")
	holder.ends(t, 79)
	require.Contains(t, holder.stderr(t), "deleted by somebody else")
	next.up(t)
	_, stderr = says(t, at, 1, "break --yes /b", number)
	require.Contains(t, stderr, "there is no contender")
	says(t, at, 0, "break --yes /b", awaitQueue(t, at, "/b", 1, 1)[0].Node[:12])
	next.ends(t, 79)
	last.ends(t, 0)
}

// TestRevoke: the command is ended, and the lock given back, with a status of its own; unless it is kept.
func TestRevoke(t *testing.T) {
	t.Parallel()
	at := here(t)
	at.make(t, "/r")
	_, stderr := says(t, at, 1, "revoke /r")
	require.Contains(t, stderr, "nobody holds it")
	holder, _ := runs(t, at, "run --label % /r -- sh -c", "the first", polite)
	next := start(t, at, "run --keep /r -- sh -c", holding)
	awaitQueue(t, at, "/r", 1, 1)
	stdout, _ := says(t, at, 0, "revoke /r")
	require.Contains(t, stdout, "the first")
	holder.ends(t, 80)
	require.Contains(t, holder.stdout(t), "bye")
	require.Contains(t, holder.stderr(t), "somebody asks for the lock")
	next.up(t)
	says(t, at, 0, "revoke /r")
	scene.Eventually(t, func() bool { return strings.Contains(next.stderr(t), "the command goes on (--keep)") }, "it was never told")
	next.leaves(t)
}

// TestMaxHold: a command that has had the lock for too long is ended, and the next has the lock when it is gone. A time
// that was over before the command was ready for SIGTERM is doubled.
func TestMaxHold(t *testing.T) {
	t.Parallel()
	at := here(t)
	for name, c := range map[string]struct{ grace, command, says, log string }{
		"it listens": {scene.Bound.String(), `echo begin >>%[1]s; trap "sleep 0.3; echo end >>%[1]s; exit 3" TERM; while :; do sleep 0.02; done`,
			"the command ended with status 3", "begin\nend\nnext\n"},
		"it does not": {"300ms", `echo begin >>%[1]s; trap "" TERM; while :; do sleep 0.02; done`, "the command was killed after 300ms", "begin\nnext\n"},
	} {
		log, stderr := filepath.Join(t.TempDir(), "log"), ""
		for bound := 200 * time.Millisecond; !strings.Contains(stderr, c.says); bound *= 2 {
			require.NoError(t, os.WriteFile(log, nil, 0o600))
			p := start(t, at, "run --max-hold % --grace % /mh -- sh -c", bound.String(), c.grace, fmt.Sprintf(c.command, log))
			scene.Eventually(t, func() bool { return read(t, log) != "" || !p.Running() }, "the command never ran")
			says(t, at, 0, "run /mh -- sh -c", "echo next >>"+log)
			p.ends(t, 80)
			stderr = p.stderr(t)
			require.Contains(t, stderr, fmt.Sprintf("/mh: it has had the lock for %v (--max-hold)", bound))
		}
		require.Equal(t, c.log, read(t, log), name)
	}
	stdout, _ := says(t, at, 0, "run --max-hold % /mh -- echo", scene.Bound.String(), "in time")
	require.Equal(t, "in time\n", stdout)
}
