package zklock

import (
	"fmt"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestKilledFreesTheLock: zklock is killed with SIGKILL. Its command and what that has started are gone, and the next
// holds the lock when the session has timed out: not before, for nobody tells the servers.
func TestKilledFreesTheLock(t *testing.T) {
	const timeout = 15 * time.Second // so that a machine that stands still does not end it first
	eachServer(t, func(t *testing.T, at place) {
		holder, pids := runs(t, at, "run --session-timeout % /k -- sh -c", timeout.String(), family)
		require.Len(t, pids, 2)
		// The next looks whether the first one's processes are gone when it has the lock.
		script := fmt.Sprintf(`for p in %d %d; do if kill -0 $p 2>/dev/null && ! grep -q ") Z" /proc/$p/stat; then echo alive $p; fi; done; echo up $$ .`, pids[0], pids[1])
		next := start(t, at, "run /k -- sh -c", script)
		awaitQueue(t, at, "/k", 1, 1)
		killed := time.Now()
		require.NoError(t, holder.Kill())
		next.up(t)
		took := time.Since(killed)
		next.ends(t, 0)
		require.NotContains(t, next.stdout(t), "alive")
		t.Logf("free after %v, session timeout %v", took, timeout)
		require.Greater(t, took, timeout/3, "the servers knew before the session timed out: this shows nothing")
	})
}

// TestKilledWithAll: what the command has started and what ignores signals goes too, and at once, also in process groups
// of its own.
func TestKilledWithAll(t *testing.T) {
	t.Parallel()
	at := here(t)
	for shell, script := range map[string]string{"sh": stubborn, "bash": jobs} {
		if shell == "bash" {
			requireJobs(t)
		}
		p, pids := runs(t, at, "run /k -- "+shell+" -c", script)
		require.Len(t, pids, 2)
		require.NoError(t, p.Kill())
		requireGone(t, pids)
	}
}

// TestKilledWithoutItsGuard: the kernel kills the command's own process, where it does that.
func TestKilledWithoutItsGuard(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process of its parent's end")
	}
	at := here(t)
	p, pids := runs(t, at, "run /k -- sh -c", stubborn)
	guard := guardOf(t, p.Pid())
	require.NoError(t, kill(guard))
	scene.Eventually(t, func() bool { return !alive(guard) }, "the guard is still there")
	require.NoError(t, p.Kill())
	requireGone(t, pids[:1])
	require.True(t, alive(pids[1]), "the guard ends the rest")
	require.NoError(t, kill(pids[1]))
}

// TestGuardKnowsBefore: zklock may be killed when its command runs already and the guard has not heard of its process group. It
// knows the command's processes by their environment then, and no others.
func TestGuardKnowsBefore(t *testing.T) {
	t.Parallel()
	requireJobs(t)
	session, err := unix.Getsid(0)
	require.NoError(t, err)
	sleeper := func(held string) *rig.Process {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = append(clean(), "ZKLOCK_HELD="+held)
		p, err := rig.StartProcess(cmd, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Kill() })
		return p
	}
	ours, another := sleeper("/x/node-1\n/y/node-2"), sleeper("/x/node-3")
	guard := launch(t, exec.Command(program, "guard"))
	_, err = fmt.Fprintf(guard.stdin, "expect %d node-2\n", session)
	require.NoError(t, err)
	guard.leaves(t)
	<-ours.Exited()
	require.True(t, another.Running())
}

// TestNothingIsLeft: after an ordinary run neither the guard nor the session is there.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	at := here(t)
	p, _ := runs(t, at, "run /n -- sh -c", holding)
	guard := guardOf(t, p.Pid())
	p.leaves(t)
	scene.Eventually(t, func() bool { return !alive(guard) }, "the guard is still there")
	awaitQueue(t, at, "/n", 0, 0)
}
