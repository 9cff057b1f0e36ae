//go:build mistakes

package mistakes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// foundWithin bounds the search for one mistake.
const foundWithin = 20 * time.Minute

// The simulation finds each of these mistakes within so many seeds, by the invariant that it
// breaks.
func TestSimulationFinds(t *testing.T) {
	for _, c := range []struct {
		mistake Mistake
		seeds   int
		shows   string // a regular expression
	}{
		{LeaseTooLong, 1000, `two holders|with token`},
		{LeaseFromNewest, 4000, `two holders|with token|orphan`}, // a session that lives on unproved may be found first by its nodes
		{WakeUpLost, 500, `lost wake-up`},
		{DepartureUnseen, 1000, `lost wake-up`},
		{CreateForgotten, 3000, `nodes are left|orphan|hangs`},
		{DeleteForgotten, 2000, `nodes are left|orphan|hangs`},
	} {
		t.Run(c.mistake.Name, func(t *testing.T) {
			output := findings(t, c.mistake, "tests/simulation", []string{fmt.Sprintf("TURNSTILE_SIMULATION_SEEDS=%d", c.seeds)},
				"-test.run=^TestSimulation$")
			require.Regexp(t, `seed \d+: .*(`+c.shows+`)`, output)
		})
	}
}

// The cells of the matrix find each of these mistakes.
func TestMatrixFinds(t *testing.T) {
	for _, c := range []struct {
		mistake Mistake
		cells   []string
	}{
		{LeaseTooLong, []string{"TestTouches/leader-to-follower/stalls-for-1.0T", "TestTouches/client-to-server/stalls",
			"TestTouches/machine-suspended/for-0.50T", "TestTouches/reconnect/shorter-timeout"}},
		{LeaseFromNewest, []string{"TestTouches/leader-to-follower/asks-after"}},
		{WakeUpLost, []string{"TestMatrix/list/cut-before", "TestMatrix/list/reply-lost"}},
		{DepartureUnseen, []string{"TestMatrix/list/parent-deleted"}},
		{CreateForgotten, []string{"TestMatrix/look/acl-denies"}},
	} {
		for _, cell := range c.cells {
			t.Run(c.mistake.Name+"/"+cell, func(t *testing.T) {
				output := findings(t, c.mistake, "tests/matrix", nil, "-test.run=^"+cell)
				require.Contains(t, output, "--- FAIL: "+cell)
			})
		}
	}
}

// TestRelistsFinds: each suite with waiters finds a wake-up that is lost, because a waiter had to look again. By the time
// that a test takes nobody would find it: it passes a session timeout later.
func TestRelistsFinds(t *testing.T) {
	for _, c := range waiters {
		t.Run(c.suite, func(t *testing.T) {
			t.Parallel() // they mostly wait
			output := findings(t, WakeUpLost, c.suite, nil, "-test.failfast", "-test.run=^"+c.test)
			require.Contains(t, output, "found by looking again what an event should have told it")
		})
	}
}

// TestOwnTestsFind: a package's own tests find a mistake in it, or the folder of tests that shows its rule.
func TestOwnTestsFind(t *testing.T) {
	for _, c := range own {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel() // some wait for minutes, until patience ends
			test, cells, _ := strings.Cut(c.test, "/")
			run := "-test.run=^" + test + "$"
			if cells != "" {
				run += "/" + cells
			}
			require.Contains(t, findings(t, c.Mistake, c.suite, nil, "-test.failfast", run), "--- FAIL: "+test)
		})
	}
}

// Attacks on a real server find each of these mistakes.
func TestStallsFind(t *testing.T) {
	rig.Require(t)
	for _, c := range []struct {
		mistake Mistake
		attack  string
		says    string
	}{
		{LeaseTooLong, "TestNoOverlapWhileALinkStalls", `overlap of \d`},
		{ChainUnbroken, "TestNoOverlapWhenManySessionsExpire/masses-one", `overlap of \d`},
		{ChainUnbroken, "TestNoOverlapWhenManySessionsExpire/masses-three", `overlap of \d`},
		{ChainUnbroken, "TestNoOverlapWhenManySessionsExpire/masses-leader", `overlap of \d`},
		{PartsUnread, "TestNoLeaseOfASessionEndedElsewhere", `overlap of \d`},
		{WakeUpLost, "TestNoLeaseOfASessionEndedElsewhere", "found by listing again what no event had told"},
	} {
		t.Run(c.mistake.Name+"/"+c.attack, func(t *testing.T) {
			output := findings(t, c.mistake, "tests/stalls", nil, "-test.v", "-test.count=5", "-test.failfast",
				"-test.run=^"+strings.ReplaceAll(c.attack, "/", "$/^")+"$")
			require.Contains(t, output, "--- FAIL: "+c.attack)
			require.Regexp(t, c.says, output)
		})
	}
}

// On real servers, each of these mistakes shows when a request is carried out late: a transaction is carried out twice, or
// under a later hold, or another's node is deleted.
func TestLateRequestsFind(t *testing.T) {
	rig.Require(t)
	for _, c := range []struct{ mistake, suite, test, says string }{
		{"not-fenced", "tests/txn", "TestRealStuckTxn", "carried out once, as told"},
		{"guard-of-any-version", "tests/txn", "TestRealStuckTxn", "carried out once, as told"},
		{"guard-of-any-version", "tests/txn", "TestRealStuckTxnOfAnEarlierHold", "nothing is written of a hold that is over"},
		{"removed-by-its-name", "tests/elections", "TestRealContestDeletedLate", "a late delete took the node of the next holder"},
	} {
		t.Run(c.mistake+"/"+c.test, func(t *testing.T) {
			at := slices.IndexFunc(own, func(o ownMistake) bool { return o.Name == c.mistake })
			require.GreaterOrEqual(t, at, 0)
			output := findings(t, own[at].Mistake, c.suite, nil, "-test.run=^"+c.test+"$")
			require.Contains(t, output, "--- FAIL: "+c.test)
			require.Contains(t, output, c.says)
		})
	}
}

// findings builds a suite, which is a folder below the root, with a mistake. It runs it where it is,
// and gives what it prints. The suite must fail.
func findings(t *testing.T, m Mistake, suite string, env []string, args ...string) string {
	t.Helper()
	root, err := Root()
	require.NoError(t, err)
	overlay, err := m.Overlay(root, t.TempDir())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), foundWithin)
	defer cancel()
	folder, program := filepath.Join(root, filepath.FromSlash(suite)), filepath.Join(t.TempDir(), "suite")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", program, ".")
	build.Dir = folder
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	begin := time.Now()
	run := exec.CommandContext(ctx, program, append(args, "-test.timeout="+foundWithin.String())...)
	// The programs that a suite builds have the mistake, too.
	run.Dir, run.Env = folder, append(append(os.Environ(), env...), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	output, err = run.CombinedOutput()
	require.NoError(t, ctx.Err(), "not found in time: %s", m.What)
	var failed *exec.ExitError
	require.True(t, errors.As(err, &failed), "not found: %s", m.What)
	t.Logf("found after %v: %s", time.Since(begin).Round(time.Second), m.What)
	return string(output)
}
