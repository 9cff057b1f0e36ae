package crowd

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// drainVariable sets the size of TestDrain, for measurements: the number of waiters, the number of
// processes, and whether the bounds of their sessions are lifted, so that each waiter has a node.
// "1024 4 false" is an example.
const drainVariable = "TURNSTILE_CROWD_DRAIN"

// TestDrain: processes with a session each wait for one lock, with very many goroutines that lock
// once. When the holder of another session has given the lock back, each goroutine gets it. The test
// logs the speed, and the memory of the processes while all waited.
func TestDrain(t *testing.T) {
	rig.Require(t)
	many, processes, unbounded := 600, 2, false
	var servers []rig.Option
	if of := os.Getenv(drainVariable); of != "" {
		_, err := fmt.Sscan(of, &many, &processes, &unbounded)
		require.NoError(t, err)
		servers = append(servers, rig.WithHeap(4000)) // a list of 100 000 nodes has 6 MB, and many ask for it at once
	}
	server := rig.StartStandalone(t, servers...)
	k := crowd{Many: many / processes, Unbounded: unbounded, Passes: true}
	holder := scene.Open(t, server.Addr())
	held := scene.Locked(t, holder.Mutex(k.path(0)).Lock)
	var all []*process
	memory := 0.0
	for range processes {
		all = append(all, k.start(t, server.Addr(), server))
	}
	for _, p := range all {
		memory += residentMiB(t, p.Pid())
	}
	begun := time.Now()
	scene.GiveBack(t, held)
	for _, p := range all {
		p.await(t, fmt.Sprintf("passed %d", k.Many))
	}
	took := time.Since(begun)
	t.Logf("%d waiters of %d processes: %.0f hand-offs/s, %.0f MiB", k.Many*processes, processes,
		float64(k.Many*processes)/took.Seconds(), memory)
	for _, p := range all {
		require.NoError(t, p.Tell("close"))
		p.await(t, "closed: <nil>")
	}
}

// residentMiB is the memory that a process has (VmRSS), or 0 where the system does not tell.
func residentMiB(t *testing.T, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kib float64
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	_, err = fmt.Sscan(string(rest), &kib)
	require.NoError(t, err)
	return kib / 1024
}
