package services

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// faultTest is a test of a fault outside of this package and of the matrix.
type faultTest struct {
	test string // as "FOLDER: TEST"
	// virtual: it runs in virtual time on an embedded server. All others run on real servers.
	virtual bool
	// cells has the cells that make the same assertion: "services: ABILITY/FAULT" of this package, "matrix: TEST/CELL",
	// which run on an embedded server in virtual time, or "faces: TEST/CELL", which run on real servers, too.
	cells []string
	// beyond is an assertion that no cell makes.
	beyond string
}

// faultTests has a row for each test of a fault: see isFaultTest.
var faultTests = []faultTest{
	{"elections: TestContestMeetsFaults", false, []string{
		"matrix: TestRecipes/contest/create/reply-lost", "matrix: TestRecipes/contest/create/cut-before",
		"matrix: TestRecipes/contest/delete/reply-lost", "matrix: TestRecipes/contest/delete/cut-before"},
		"TryLock of the same session and of another finds it taken meanwhile"},
	{"elections: TestContestNodeIsReplaced", false, []string{"matrix: TestRecipes/contest/verify/node-deleted"},
		"the node that somebody else has made in its place stays, whether Unlock comes before the loss is known or after"},
	{"elections: TestContestSurvivesACutAndNotAnExpiry", false, []string{
		"matrix: TestRecipes/contest/verify/cut-before", "matrix: TestRecipesExpiredIn/contest/held"}, ""},
	{"elections: TestRunWhenCutOff", false, []string{"services: Election.Run/silence"},
		"the same where connections are refused, and on an ensemble; IsLeader is false before the other leads"},

	{"kinds: TestAllIsLostAsAWhole", false, []string{"matrix: TestRecipesAllLosesAPart/held/mutex/node-deleted",
		"faces: TestSeveralLocksLoseOne"},
		"of two clients; each of the other locks can be acquired before Unlock"},
	{"kinds: TestCohortSurvivesACut", false, []string{"matrix: TestFaultsStrikeCohorts/holder/cut"}, ""},
	{"kinds: TestCohortLosesItsSession", false, []string{"matrix: TestFaultsStrikeCohorts/holder/session-expired"}, ""},
	{"kinds: TestCohortLosesReplies", false, []string{"matrix: TestFaultsStrikeRequestsOfCohorts/delete/reply-lost"}, ""},
	{"kinds: TestCohortKeepsItsOrder", false, nil,
		"calls that wait without a node hold in the order in which they came, over a cut and over an expiry; a call that is " +
			"made while there is no connection comes behind them"},
	{"kinds: TestNamedIsLost", true, nil,
		"OnLost tells of the key, which stays taken in its process until Unlock; nobody else's lock is given back instead"},
	{"kinds: TestSharedHoldMeetsFaults", false, []string{"matrix: TestMatrix/verify/cut-before",
		"matrix: TestMatrix/verify/session-expired", "matrix: TestMatrix/verify/node-deleted"},
		"two requests of one owner hold with one node: both hold on, or both are lost"},
	{"kinds: TestDowngradeMeetsFaults", false, []string{"matrix: TestRecipes/downgrade/create/reply-lost",
		"matrix: TestRecipes/downgrade/create/cut-before"},
		"the create is lost twice; the delete of the writer's node is lost, or its reply"},
	{"kinds: TestSessionExpiresDuringADowngrade", false,
		[]string{"matrix: TestRecipesExpiredIn/downgrade/recovering, creating before"}, ""},
	{"kinds: TestStickyOverACut", false, []string{"matrix: TestFaultsStrikeStickyLocks/retained/cut",
		"matrix: TestFaultsStrikeStickyLocks/taken-up/cut"}, ""},

	{"leases: TestSessionExpires", false, []string{"matrix: TestExpiredIn/recovering, held before",
		"matrix: TestExpiredIn/watching", "faces: TestHolder/session expires", "faces: TestWaiter/session expires"},
		"the holder and the waiter are of the session that expires"},
	{"leases: TestLeaderIsKilled", false, []string{"matrix: TestRealServers/leader-killed"},
		"three sessions lock in turn, with greater tokens, while the leader is away and when it is back"},

	{"queues: TestBreakIsFollowedToItsEnd", false, nil,
		"Break's delete is lost, or its reply: it is done once, and the caller learns so"},
	{"queues: TestRevokeIsFollowedToItsEnd", false, nil, "Revoke's write is lost, or its reply: the holder is asked"},
	{"queues: TestQueueIsReadToItsEnd", false, nil, "a request of Queue is lost, or its reply: it gives the whole queue"},

	{"restarts: TestReclaimThroughFaults", false, []string{"services: WithReclaim/cut", "services: WithReclaim/silence",
		"services: WithReclaim/lost reply"}, ""},
	{"restarts: TestTakeOverLosesMessages", true, []string{"services: WithReclaim/cut", "services: WithReclaim/lost reply"},
		"the request or its reply is lost together with the session"},

	{"runonce: TestRunOnceFaults", true, []string{"services: RunOnce/expiry", "services: RunOnce/cut",
		"services: RunOnce/silence", "services: RunOnce/lost reply"}, "the lock is broken"},
	{"runonce: TestRunOnceIsCut", false, []string{"services: RunOnce/expiry", "services: RunOnce/cut"}, ""},
	{"runonce: TestRunOnceInSilence", false, []string{"services: RunOnce/silence"}, ""},
	{"runonce: TestRunOncePaused", false, []string{"services: RunOnce/pause"}, ""},
	{"runonce: TestRunOnceKilled", false, []string{"services: RunOnce/kill"}, ""},
	{"runonce: TestRunOnceLosesMessages", false, []string{"services: RunOnce/lost reply"}, ""},
	{"runonce: TestMarkFirstFaults", true, nil,
		"with WithMarkFirst a fault in the work leaves the mark, and one at the mark keeps the work from being done"},
	{"runonce: TestRunOnceForFaults", true, []string{"services: RunOnce/expiry", "services: RunOnce/cut",
		"services: RunOnce/silence", "services: RunOnce/lost reply"},
		"for an instant: at most once, and with WithRetryAfter again unless it is known to be done"},
	{"runonce: TestRunOnceForExpires", false, []string{"services: RunOnce/expiry"}, "for an instant: the mark says begun"},
	{"runonce: TestRunOnceForPaused", false, []string{"services: RunOnce/pause"},
		"for an instant: nothing is written after the next instant's mark"},
	{"runonce: TestRunOnceForKilled", false, []string{"services: RunOnce/kill"},
		"for an instant: the mark says begun, and WithRetryAfter has it run again"},
	{"runonce: TestRunOnceForLosesMessages", false, []string{"services: RunOnce/lost reply"}, "for an instant: marked twice"},

	{"txn: TestTxnsAreExact", false, []string{"services: Lease.Txn/lost reply"},
		"forty in a row, with faults at random: each that succeeds is carried out once, each that fails is not"},
	{"txn: TestTxnsThroughLeaderChanges", false, nil,
		"leaders are killed while a holder writes: each that succeeds is carried out once, each that fails is not"},
	{"txn: TestReplyToTxnIsLost", false, []string{"services: Lease.Txn/lost reply"}, ""},
	{"txn: TestReplyToTxnIsLostWithTheSession", true, []string{"services: Lease.Txn/lost reply"}, ""},
	{"txn: TestReplyToTxnWithParentsIsLost", true, []string{"services: Lease.Txn/lost reply"},
		"with WithParents: its look is lost, or the reply to it"},
	{"txn: TestPausedHolderCommits", false, []string{"services: Lease.Txn/pause"},
		"on an ensemble, ten times, each after another holder has written"},
}

// behaviours are the packages for behaviour in doc.go of tests, without faces, whose cells the rows name, and actors.
var behaviours = []string{"kinds", "leases", "queues", "deadlocks", "elections", "runonce", "txn", "restarts", "refusals"}

// ofFaults matches names of tests that say which fault their subject meets.
var ofFaults = regexp.MustCompile(`Faults$|Cut(Off)?$|ACut|Loses|Expires|Killed|Paused|InSilence|IsLost|LeaderChanges`)

// isFaultTest reports whether a test of a behaviour is one of a fault: its name says so, or its file's.
func isFaultTest(file, name string) bool {
	return strings.Contains(filepath.Base(file), "faults") || ofFaults.MatchString(name)
}

// TestFaultTests: each test of a fault has its row, which is right about where it runs, and names cells that exist, or
// an assertion that no cell makes.
func TestFaultTests(t *testing.T) {
	bodies := map[string]string{}
	for _, folder := range behaviours {
		for file, text := range testFiles(t, folder) {
			for _, found := range testFunction.FindAllStringSubmatch(text, -1) {
				if isFaultTest(file, found[1]) {
					bodies[folder+": "+found[1]] = found[0]
				}
			}
		}
	}
	texts := map[string]string{}
	for _, folder := range []string{"matrix", "faces"} {
		for _, text := range testFiles(t, folder) {
			texts[folder] += text
		}
	}
	for _, f := range faultTests {
		body, exists := bodies[f.test]
		require.True(t, exists, "%s is not there, is no test of a fault, or has two rows", f.test)
		delete(bodies, f.test)
		require.Equal(t, f.virtual, strings.Contains(body, "synctest.Test("), "%s: in virtual time", f.test)
		require.False(t, len(f.cells) == 0 && f.beyond == "", "%s says nothing", f.test)
		for _, c := range f.cells {
			of, name, _ := strings.Cut(c, ": ")
			switch of {
			case "services":
				_, test, _ := strings.Cut(f.test, ": ")
				require.True(t, hasCell(name, test), "%s: %s", f.test, c)
			case "matrix", "faces":
				test, cell, hasCells := strings.Cut(name, "/")
				require.Contains(t, texts[of], "func "+test+"(", f.test)
				require.True(t, !hasCells || isPut(texts[of], cell), "%s: %s", f.test, c)
			default:
				t.Errorf("%s: %s", f.test, c)
			}
		}
	}
	require.Empty(t, bodies, "tests of faults without a row")
}

// testFunction is a test with its body.
var testFunction = regexp.MustCompile(`(?ms)^func (Test\w+)\(t \*testing\.T\) \{.*?^\}`)

// testFiles gives the texts of the test files of a folder beside this one.
func testFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[file] = string(text)
	}
	require.NotEmpty(t, texts, folder)
	return texts
}

// hasCell reports whether an ability under a fault has a cell here, or names a test elsewhere.
func hasCell(name, test string) bool {
	ability, fault, _ := strings.Cut(name, "/")
	here := slices.ContainsFunc(cells, func(c cell) bool { return string(c.ability) == ability && string(c.fault) == fault })
	return here || slices.Contains(elsewhereShown[Ability(ability)][Fault(fault)].by, test)
}

// isPut reports whether a name of subtests is put together from strings of a text.
func isPut(text, name string) bool {
	for end := len(name); end > 0; end = strings.LastIndex(name[:end], "/") {
		if strings.Contains(text, `"`+name[:end]+`"`) && (end == len(name) || isPut(text, name[end+1:])) {
			return true
		}
	}
	return false
}
