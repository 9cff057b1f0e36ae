//go:build linux

package matrix

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

const (
	// stoppedVariable has what TestHolderInAProcess connects to.
	stoppedVariable = "TURNSTILE_MATRIX_STOPPED"
	// brief is a session timeout that a test can wait for by the real clock, and that a stall of the machine does not use up.
	brief = 10 * time.Second
)

// TestHolderInAProcess is not a test but a process: it holds one lock, waits for another, and says what comes of both when
// it has stood still.
func TestHolderInAProcess(t *testing.T) {
	connect := os.Getenv(stoppedVariable)
	if connect == "" {
		return
	}
	client := scene.Open(t, connect, locks.WithSessionTimeout(brief))
	told := &scene.Changes{}
	lease := scene.Locked(t, client.Mutex("/held", locks.WithOnChange(told.Hear)).Lock)
	waits := scene.Elsewhere(scene.Deadline(t), client.Mutex("/waited").Lock)
	scene.Say("holds", int64(lease.Token()))
	for last, ends := time.Now(), lease.Deadline(); ; time.Sleep(time.Millisecond) {
		valid := lease.Valid() // before anything else
		now := time.Now()
		if now.Sub(last) > brief {
			_, err := lease.Txn(scene.Deadline(t), locks.Create("/stale", nil)) // without a look at anything
			scene.Say("stale", errors.Is(err, locks.ErrLost) && !errors.Is(err, locks.ErrUnknownOutcome))
			scene.Say("valid", valid, ends.UnixNano(), strings.Contains(ends.String(), " m="))
			break
		}
		last, ends = now, lease.Deadline()
	}
	scene.AwaitLost(t, lease)
	scene.Say("lost", errors.Is(unlock(scene.Deadline(t), lease), locks.ErrLost))
	got := scene.Receive(t, waits)
	require.NoError(t, got.Err)
	scene.Say("holds", int64(got.Lease.Token()))
	scene.GiveBack(t, got.Lease)
	scene.Say("told", told.Kinds())
}

// TestProcessIsStopped: a process that holds a lock and waits for another is stopped until the servers have ended its session
// and others hold both. When it goes on its lease is over at the first look, by a deadline before the next grant, and a
// transaction of the lease writes nothing. It is told that it has lost, and of nothing else. What it waited for it holds in
// its turn, behind those who came in between.
func TestProcessIsStopped(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		others := zk.Open(t)
		front := scene.LockAt(t, others, "/waited")
		p := scene.StartProcess(t, "TestHolderInAProcess", stoppedVariable, zk.Connect())
		var held, later locks.Token
		hear := func(format string, into ...any) {
			t.Helper()
			_, err := fmt.Sscanf(p.Hear(t), format, into...)
			require.NoError(t, err)
		}
		hear("holds %d", &held)
		scene.AwaitCount(t, zk, "/waited", 2)
		next := scene.Queue(t, others, "/held")

		require.NoError(t, p.Pause())
		stopped := time.Now()
		lease := next.Granted(t)
		granted := scene.Await(t, next.Rec, stHeld).At
		scene.GiveBack(t, front)
		between := scene.LockAt(t, others, "/waited")
		time.Sleep(time.Until(stopped.Add(brief))) // it looks when it has stood still for longer
		require.NoError(t, p.Resume())

		var stale, valid, monotonic, lost bool
		var deadline int64
		hear("stale %t", &stale)
		require.True(t, stale)
		require.NotContains(t, zk.Children(t, zk.Raw(t), ""), "stale")
		hear("valid %t %d %t", &valid, &deadline, &monotonic)
		require.False(t, valid)
		require.Less(t, deadline, granted.UnixNano(), "the next was let in before the lease was over")
		require.True(t, monotonic, "no step of the clock moves the deadline")
		hear("lost %t", &lost)
		require.True(t, lost)
		require.Greater(t, lease.Token(), held)
		scene.AwaitCount(t, zk, "/waited", 2)
		scene.GiveBack(t, between, lease)
		hear("holds %d", &later)
		require.Greater(t, later, between.Token())
		require.Equal(t, "told [lost]", p.Hear(t))
	})
}
