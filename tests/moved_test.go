package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// moved is a test that was removed, and the tests that make its assertions now. TestTwins in
// tests/faces has those whose assertions are in the table of the three faces.
type moved struct {
	went, in  string   // the test, and its folder
	by        []string // as "FOLDER: TEST" or "FOLDER: TEST/CELL"; the folder where it is another than in
	assertion string   // with the kind of server, if that is another now
}

// movedTests are the tests that were removed since 2026-11-24.
var movedTests = []moved{
	{"TestEndedElsewhere", "tests", []string{"tests/matrix: TestMatrix/ended-elsewhere",
		"tests/leases: TestEndedElsewhereWhileItReconnects"},
		"a session is ended at the servers while its connection stays: the first heartbeat that is refused in a part ends " +
			"the lease, and the next holds; embedded"},
	{"TestBothWaysOfCreatingShareAQueue", "tests", []string{"tests/actors: TestLockPathIsNotWritten"},
		"there is one way of creating left: no create writes to the lock path; grants in the order of the nodes are " +
			"TestOneGrantAfterTheOther's in tests/faces"},
	{"TestWithoutParentWrites", "tests", []string{"tests/actors: TestLockPathIsNotWritten"},
		"the lock path changes in nothing but its children"},

	{"TestCuratorDowngradeLetsAWaitingWriterIn", "tests/interop", []string{"TestCuratorBehaviour/DowngradeBesideWaiter"},
		"Curator 5.9 has mended it: the writer that waits, waits on"},
	{"TestKazooReaderWaitsForAWriterBehindIt", "tests/interop", []string{"TestKazooReaderPassesOverAWriterBehindIt"},
		"kazoo has mended it: a reader waits for the last writer before it alone"},
	{"TestKazooReadersOnOnePath", "tests/interop", []string{"TestKazooReadWriteOnOnePath"},
		"kazoo's readers beside ours exclude writers of both; as they come, without giving up in between"},
	{"TestKazooWritersOnOnePath", "tests/interop", []string{"TestKazooReadWriteOnOnePath"},
		"kazoo's WriteLock beside our readers and writers: one writer at a time"},

	{"TestNodesSayHowManyWait", "tests/matrix", []string{"TestNodesSayWhoHasThem/waiting",
		"TestNodesSayWhoHasThem/write/cut-before", "TestNodesSayWhoHasThem/write/reply-lost",
		"TestNodesSayWhoHasThem/write/reply-late", "TestNodesSayWhoHasThem/write/session-expired"},
		"a node is not written to for requests that wait, and their own session counts them; the write of a node that was " +
			"passed on meets the same four faults"},
	{"TestInsideIsShown", "tests/dashboard", []string{"TestCohortIsShown"},
		"the session of a cohort is shown with its weight, and its node says that it may serve several; nodes do not count " +
			"the requests behind them any more"},
	{"TestArchive", "tests/bench", []string{"TestAgainstItself"},
		"a result that is read again differs from itself in nothing; of a file that the test writes, as no results are kept as JSON"},

	{"TestCreateCounted", "zkconn", []string{"TestCommitMakesSeveral"},
		"a create tells the name and the czxid of its node, and when it was sent; by the header of the reply"},
	{"TestCreateCountedTellsThePartThatFailed", "zkconn", []string{"TestCommitTellsThePartThatFailed"},
		"the error names the part that failed and its path"},
	{"TestSessionThatMayBeExpiring", "zkconn", []string{"TestSessionThatMayBeDue"},
		"a lease lives on while the session cannot be due; once it may be, no lease rests on the session any more"},
	{"TestSessionIsLeftToExpireOnce", "zkconn", []string{"TestSessionThatIsNotLetInIsGivenUp"},
		"a session whose client is not let in ends: it is given up, and nothing is asked that would let it live for longer"},
	{"TestLeaseClockIsShortened", "zkconn", []string{"TestLeaseClockIsSet"},
		"a deadline that is set sooner holds, and a term that has ended does not come back"},
	{"TestLongPausesGrow", "actors/internal/retry", []string{"zkconn/retry: TestPausesGrow/hung up"},
		"pauses after hang-ups double from a tenth of a second to 5 s, with jitter"},
	{"TestEveryOrder", "actors/internal/singleton", []string{"actors/term: TestWorkOnlyWhileHeld",
		"actors/term: TestGivenBackWithoutWork", "actors/term: TestCampaignsWhenTheLockIsGone", "actors/term: TestNeverStandsStill"},
		"in every order of events: one child, under a valid lease; the lock is given back without a child; a campaign begins when " +
			"the lock before is gone; nothing stands still"},
	{"TestStories", "actors/internal/singleton", []string{"actors/term: TestStories"},
		"the stories of a singleton, event by event"},
	{"TestWindowSlides", "actors/internal/singleton", []string{"actors/term: TestWindowSlides"},
		"failures that are older than the window do not count"},
	{"TestHeaviest", "examples/zklock", []string{"TestDump"},
		"the dump of a server names the heaviest session, with its nodes and their weight; nothing of an empty one"},
	{"TestByHand", "locks/adapters/gocron", []string{"TestRunNow"},
		"a job that is run by hand counts for no instant; RunNow is refused between two, and a call under the job's lock runs"},
}

// renamedTests are the tests that only have another name.
var renamedTests = []struct{ was, in, is string }{
	{"TestAllLosesAPart", "tests/matrix", "TestRecipesAllLosesAPart"},
	{"TestCannotBeHad", "tests/activation", "TestCannotBeAcquired"},
	{"TestWaitersAreInNoHurry", "tests/leases", "TestWaitersAreNotUrgent"},
	{"TestACLForWhoeverIAmNeedsSomebodyToBe", "zkconn", "TestAuthACLNeedsAnIdentity"},
	{"TestHandshakesInAHurryLeaveTimeForAnotherServer", "zkconn", "TestUrgentHandshakesLeaveTimeForAnotherServer"},
	{"TestHurriedHostsFallBackOnWhatANameMeant", "zkconn", "TestUrgentHostsFallBackOnWhatANameMeant"},
	{"TestHurriedHostsPauseBrieflyUntilTheLeaseEnds", "zkconn", "TestUrgentHostsPauseBrieflyUntilTheLeaseEnds"},
	{"TestHurryEndsAPauseThatHasBegun", "zkconn", "TestUrgencyEndsAPauseThatHasBegun"},
	{"TestRefusedCredentialsAreInNoHurry", "zkconn", "TestRefusedCredentialsAreNotUrgent"},
	{"TestSASLWithASilentServerInAHurry", "zkconn", "TestSASLWithASilentServerWhereItIsUrgent"},
	{"TestServersThatRefuseArePausedForInAHurry", "zkconn", "TestServersThatRefuseArePausedForWhereItIsUrgent"},
	{"TestOfferThatIsNone", "zkconn/gssapi", "TestBrokenOffer"},
	{"TestProofThatIsNone", "zkconn/gssapi", "TestBrokenProof"},
}

// writtenOnce are the tests whose steps one function has now. None of them went.
var writtenOnce = []struct {
	in, by string // the folder, and the function
	tests  []string
	has    string // what the function has, with its assertions
}{
	{"tests/deadlocks", "giveUpInTurn", []string{"TestOnlyOneOfManyGivesUp", "TestOnlyOneInManyCohortsGivesUp"},
		"requests in a circle: one is told Deadlocked with all members, then Cancelled for the deadlock; the others hold in turn"},
	{"tests/matrix", "turn", []string{"TestReplacedServersRunOnce", "TestReplacedServersRunOnceFor"},
		"servers are replaced while work is under way: ErrLost, and the one that waits for its turn runs"},
	{"tests/txn", "heldThroughOutages", []string{"TestGetAfterTheLease", "TestTxnAfterTheLease",
		"TestReplyToTxnIsLostWithTheSession"},
		"a lease of a minute ago, whose client goes through a network that is cut; embedded, in virtual time"},
}

// movedScenarios are the scenarios that were removed from tests/stalls, each with the column or the
// length that shows the same in tests/outages: on the same ensemble of three, and with one server,
// too. Nobody waited behind a holder in them, so that no two could hold.
var movedScenarios = []struct{ went, by, assertion string }{
	{"calm", "disturbed", "leases that are lost because the machine or the servers are busy, and not by an outage"},
	{"outage-0.05", "0.05", "a lease survives that its holder's links are cut for 0.05 T"},
	{"outage-0.10", "0.10", "a lease survives that its holder's links are cut for 0.10 T"},
	{"outage-0.15", "0.15", "a lease survives that its holder's links are cut for 0.15 T"},
	{"outage-0.20", "0.20", "a lease survives that its holder's links are cut for 0.20 T"},
}

// sources gives the Go files of a folder as one text, without this file and the docs.
func sources(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range files {
		if base := filepath.Base(name); base != "moved_test.go" && base != "doc.go" {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}

// declares reports whether a text has a function or a method of a name.
func declares(text, function string) bool {
	return regexp.MustCompile(`(?m)^func (\(\w+ \*?\w+\) )?` + regexp.QuoteMeta(function) + `\(`).MatchString(text)
}

// TestMoved: a removed test is not in its folder any more, and the tests and cells that are named for it exist.
func TestMoved(t *testing.T) {
	for _, m := range movedTests {
		require.False(t, declares(sources(t, m.in), m.went), "%s has %s", m.in, m.went)
		require.NotEmpty(t, m.by, m.went)
		for _, by := range m.by {
			folder, test, elsewhere := strings.Cut(by, ": ")
			if !elsewhere {
				folder, test = m.in, by
			}
			name, cell, _ := strings.Cut(test, "/")
			text := sources(t, folder)
			require.True(t, declares(text, name), "%s has no %s", folder, name)
			require.Regexp(t, `"`+regexp.QuoteMeta(cell)+`|\b`+regexp.QuoteMeta(cell)+`\b`, text, "%s has no such cell", name)
		}
	}
	for _, r := range renamedTests {
		text := sources(t, r.in)
		require.False(t, declares(text, r.was), "%s has %s", r.in, r.was)
		require.True(t, declares(text, r.is), "%s has no %s", r.in, r.is)
	}
	for _, w := range writtenOnce {
		text := sources(t, w.in)
		require.True(t, declares(text, w.by), "%s has no %s", w.in, w.by)
		for _, test := range w.tests {
			require.True(t, declares(text, test), "%s has no %s", w.in, test)
		}
	}
}

// TestMovedScenarios: tests/stalls has none of them, and its doc says where each is. tests/outages has
// the lengths by default, and the column.
func TestMovedScenarios(t *testing.T) {
	stalls, outages := sources(t, "tests/stalls"), sources(t, "tests/outages")
	doc, err := os.ReadFile("stalls/doc.go")
	require.NoError(t, err)
	for _, m := range movedScenarios {
		require.NotContains(t, stalls, `"`+m.went+`"`)
		require.Regexp(t, `["\s,]`+regexp.QuoteMeta(m.by)+`\b`, outages, m.went)
		require.Regexp(t, `(?m)^//\t`+regexp.QuoteMeta(m.went)+` +.*\b`+regexp.QuoteMeta(m.by)+`\b`, string(doc))
	}
}
