package mistakes

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// waiters has a test of each suite with waiters, which fails in its clean-up where a wake-up is lost.
// Its waiter is of another session than the holder: the node before it goes without its own session.
var waiters = []struct{ suite, test string }{
	{"actors", "TestNothingIsKept"},
	{"examples", "TestQuickstart/embedded"},        // in a program
	{"examples/scheduler", "TestElector/embedded"}, // in processes of their own
	{"examples/scheduler/asynq", "TestLead$"},
	{"examples/services", "TestLeader/embedded"},
	{"locks/adapters/gocron", "TestElector$"},
	{"locks/guides", "TestTheNextOneIsGranted"},
	{"tests/access", "TestChroot/embedded"},
	{"tests/activation", "TestEnds"},
	{"tests/actors", "TestStoppedOneLeavesTheQueue/embedded/^stop,_waits_false"},
	{"tests/adapters", "TestGoose"},
	{"tests/cluster", "TestTwoActivations/embedded"},
	{"tests/crowd", "TestEnsembleLives/one_path,_close"},
	{"tests/deadlocks", "TestExactlyOneGivesUp/embedded"},
	{"tests/elections", "TestPriorities$"},
	{"tests/faces", "TestWaiter/session_expires/actors/embedded"},
	{"tests/figures", "TestBetweenSessions"},
	{"tests/gateway", "TestReplacedServers/mutex/restored"},
	{"tests/interop", "TestOthersBehindACohort"},
	{"tests/kerberos", "TestLocks$"},
	{"tests/kinds", "TestOrder/embedded/mutex"},
	{"tests/leases", "TestMaxHold"},
	{"tests/matrix", "TestMatrix/list/cut-before"},
	{"tests/queues", "TestBreakTellsTheHolderAndLetsTheNextIn/embedded/^exclusive"},
	{"tests/refusals", "TestMaxWaitersOfADowngrade"},
	{"tests/restarts", "TestTakeOverLosesMessages"},
	{"tests/runonce", "TestRunOncePaused/embedded"},
	{"tests/singleton", "TestMoves/stop"},
	{"tests/steady", "TestSteady/hand-overs"},
	{"tests/txn", "TestJournalIsExact/hand-over/embedded"},
	{"tests/zklock", "TestShared/embedded"}, // in processes of their own
}

// noWaiters has the suites that open sessions by the helpers, and in which none of them waits for
// another one's node. A client's own nodes wake its waiters without an event.
var noWaiters = map[string]string{
	"actors/actorstest":         "a test has one session",
	"actors/gateway/grain":      "one client with a session, and nobody waits",
	"examples/actors":           "one session",
	"examples/dashboard":        "one client, which does not wait",
	"examples/dashboard/look":   "one client locks, and the other looks",
	"examples/scheduler/robfig": "a replica that comes while the job runs does not wait",
	"locks":                     "the examples have a client each",
	"tests/dashboard":           "one client locks, and the other looks",
}

// opens finds what opens a session whose re-lists are counted.
var opens = regexp.MustCompile(`\bscene\.(Open|Client|ClientAt|ClientOver|CloseLater|SessionOver|NewStage(For)?|CountRelists|NoRelists|SaidRelists|ErrorOutput|Listen|Listening)\b`)

// helpers are the packages that declare these, or open sessions for other suites.
var helpers = map[string]bool{"tests/scene": true, "tests/mistakes": true}

// TestEverySuiteWithWaitersIsHere: a suite that opens sessions has a test in the table, or it is said
// why none of them waits.
func TestEverySuiteWithWaitersIsHere(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	opened := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != root {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" || helpers[path.Dir(name)] {
			return nil
		}
		text, err := os.ReadFile(file)
		if opens.Match(text) {
			opened[path.Dir(name)] = true
		}
		return err
	}))
	here := map[string]bool{}
	for _, w := range waiters {
		require.False(t, here[w.suite], "%s has two tests", w.suite)
		here[w.suite] = true
		require.True(t, opened[w.suite], "%s opens no session that is counted", w.suite)
	}
	for suite := range opened {
		require.NotEqual(t, here[suite], noWaiters[suite] != "", "%s: have a test with a waiter in the table, or say why there is none", suite)
	}
	for suite := range noWaiters {
		require.True(t, opened[suite], "%s opens no session that is counted", suite)
	}
}
