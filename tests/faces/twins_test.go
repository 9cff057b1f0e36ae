package faces

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twin is a test that said what another one said, by another face or in another state. It went, and
// a cell or a test of this package says the same, or of the folder that is named. Both are about the
// exclusive lock, and run on an embedded server, a real one and an ensemble of three.
type twin struct {
	went, in  string   // the test, and its folder
	by        []string // where it stands now, each with the fault in its name, as "TEST/CELL" or "FOLDER: TEST"
	assertion string
}

// The tests that have gone. Each of them was told by one face: by lock actors in tests/actors, by
// package locks elsewhere. Other removed tests are in tests/moved_test.go.
var twins = []twin{
	{"TestParentIsToldEachNoticeOnce", "actors", []string{"TestHolder/gives back"},
		"Held names path, node, session and czxid of the node; Released comes once"},
	{"TestReleasingTwiceIsReleasingOnce", "actors", []string{"TestHolder/gives back twice, and does not want it"},
		"one Released; one Unlock is confirmed, the other finds ErrNotHeld"},
	{"TestHolderThatIsAskedGivesBack", "actors",
		[]string{"TestHolder/asked with unlock", "TestHolder/asked as Curator does", "TestHolder/asked by the face"},
		"one RevokeRequested, the node stays until it gives back; by value: TestCommandsByValueAndByPointer"},
	{"TestOtherDataAskNothing", "actors", []string{"TestHolder/asked after other data"}, "other data ask nothing"},
	{"TestWithoutGraceNothingIsForced", "actors", []string{"TestHolder/asked without a grace"},
		"no Deadline; it holds while one that was asked later, with a grace, is gone"},
	{"TestGiveBackWithinTheGracePeriod", "actors", []string{"TestHolder/gives back within the grace"},
		"Released, and no Revoked"},
	{"TestGraceRunsOut", "actors", []string{"TestHolder/grace runs out, asked with unlock",
		"TestHolder/grace runs out, asked as Curator does", "TestHolder/grace runs out, asked by the face"},
		"RevokeRequested with a Deadline, then Revoked and Released, not before the Deadline; ErrRevoked"},
	{"TestOperatorDeletesTheHoldersNode", "actors", []string{"TestHolder/operator deletes its node"},
		"Lost, node deleted; the next holds with a greater token"},
	{"TestOperatorDeletesARevokedHoldersNode", "actors",
		[]string{"TestHolder/operator deletes its node while it is asked"}, "RevokeRequested, then Lost"},
	{"TestHolderSurvivesCut", "leases", []string{"TestHolder/connection is cut"},
		"Suspended, Resumed; same node and token, the lease is valid"},
	{"TestExpiryOfAHolderIsLost", "actors", []string{"TestHolder/session expires"},
		"Suspended, Lost; the session actor goes on with a greater epoch, and a greater token"},
	{"TestReplyToDeleteIsLost", "leases", []string{"TestHolder/reply to the delete is lost"},
		"releasing, recovering, released; Unlock succeeds once"},
	{"TestCutBeforeDelete", "leases", []string{"TestHolder/delete is lost"},
		"releasing, recovering, releasing, released; Unlock succeeds once"},
	{"TestExpiryWhileReleasing", "actors",
		[]string{"TestHolder/session expires, reply to the delete lost", "TestHolder/session expires, delete lost"},
		"Released, though the session has ended"},

	{"TestWaiterSurvivesCut", "leases", []string{"TestWaiter/connection is cut"},
		"same node; lists and watches again"},
	{"TestExpiryOfAWaiterQueuesAgain", "actors", []string{"TestWaiter/session expires"},
		"another node of another session, behind the holder; it is told nothing until it holds"},
	{"TestRevokeOfAWaiterSaysNothing", "actors", []string{"TestWaiter/asked while it waits"},
		"RevokeRequested when it holds"},
	{"TestOperatorDeletesAWaitersNode", "actors",
		[]string{"TestOperatorDeletesAWaitersNode/found by the heartbeat",
			"TestOperatorDeletesAWaitersNode/found by the slow re-list"},
		"queues again, behind the others, and holds in the end"},
	{"TestGivingUpInTheMiddle", "actors", []string{"TestGivingUpInTheMiddle"},
		"the last one does not hold before its turn"},
	{"TestWaiterThatGivesUpIsCancelled", "actors", []string{"TestRefused/gives up"},
		"Cancelled, no node stays; by Release: TestReleaseOfAWaiter"},
	{"TestGivingUpWhileCreating", "actors", []string{"TestRefused/gives up at once"}, "Cancelled, no node stays"},
	{"TestAcquireTimeoutPasses", "actors", []string{"TestRefused/its time is over"},
		"Cancelled for the timeout, no node stays; behind its own session and another"},
	{"TestAcquireTimeoutAfterTheGrant", "actors", []string{"TestTimeIsOverAfterTheGrant"}, "it goes on holding"},
	{"TestTryBehindAnother", "actors", []string{"TestRefused/tries"},
		"not acquired, no node stays; behind its own session and another; then it is"},
	{"TestTryLock", "leases", []string{"TestRefused/tries"}, "ErrNotAcquired, no node stays; then a greater token"},
	{"TestQueueFullFails", "actors", []string{"TestRefused/queue is full"},
		"Failed for the full queue, without a node"},

	{"TestReplyToCreateIsLost", "leases", []string{"TestCreate/reply to the create is lost"},
		"creating, recovering, listing, held; one node"},
	{"TestCutBeforeCreate", "leases", []string{"TestFirstCreateIsLost", "TestCreate/create is lost"},
		"creating, recovering, creating, held; one node"},
	{"TestExpiryWhileCreating", "actors",
		[]string{"TestCreate/session expires, reply to the create lost", "TestCreate/session expires, create lost"},
		"one node, of the next session"},
	{"TestTryAmongForeignChildren", "actors", []string{"TestForeignChildrenArePassedOver"}, "it holds at once"},
	{"TestForeignChildrenArePassedOver", "actors", []string{"TestForeignChildrenArePassedOver"},
		"grants in order, the children stay"},
	{"TestOneGrantAfterTheOther", "actors", []string{"TestOneGrantAfterTheOther"},
		"grants in the order of the nodes, tokens grow"},
	{"TestClosedSessionEndsItsRequests", "actors", []string{"TestSessionIsClosed"},
		"Lost, Failed, and the next one holds"},
	{"TestBadInputFailsAndSendsNothing", "actors", []string{"TestBadInput"},
		"Failed with what is wrong; nothing is sent"},

	{"TestActorOfSeveralLocks", "actors", []string{"TestSeveralLocks"},
		"AllHeld in order, AllReleased; one that is stopped, or cancels: TestActorOfSeveralLocksIsStopped"},
	{"TestActorOfSeveralLocksLosesOne", "actors", []string{"TestSeveralLocksLoseOne"},
		"AllLost with the grant that was lost, the others are given back"},
	{"TestActorOfSeveralLocksIsCancelled", "actors", []string{"TestSeveralLocksAreGivenUp"},
		"AllCancelled with the path that was waited for, the first lock is given back"},
	{"TestAllGivesBack", "kinds", []string{"TestSeveralLocksAreGivenUp", "TestSeveralLocksRefused"},
		"the first lock is held meanwhile, and given back; a weight that is too heavy sends nothing"},
	{"TestActorOfSeveralLocksRefuses", "actors", []string{"TestSeveralLocksRefused"}, "AllFailed for bad input"},
	{"TestAllSendNothingWhenOneIsBad", "kinds", []string{"TestSeveralLocksRefused"}, "no create is sent, no path is made"},

	{"TestHolderThatIsStoppedReleases", "actors", []string{"actors: TestStoppedOneLeavesTheQueue"},
		"its node is deleted, it sends no end, and the one behind it holds with a greater token"},
	{"TestWaiterThatIsStoppedLeavesTheQueue", "actors", []string{"actors: TestStoppedOneLeavesTheQueue"},
		"its node is deleted, it sends no end, and nobody holds beside the holder"},

	{"TestBadPaths", "refusals", []string{"TestBadInput"}, "ErrBadPath by Lock and TryLock; nothing is sent"},
}

// TestTwins: every test that went is said elsewhere, as the table has it, and is not in its folder any more.
func TestTwins(t *testing.T) {
	texts := map[string]string{}
	for _, folder := range []string{"actors", "faces", "kinds", "leases", "refusals"} {
		files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		require.NoError(t, err)
		for _, name := range files {
			if filepath.Base(name) != "twins_test.go" {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				texts[folder] += string(text)
			}
		}
	}
	for _, w := range twins {
		require.NotContains(t, texts[w.in], "func "+w.went+"(")
		for _, by := range w.by {
			folder, test, elsewhere := strings.Cut(by, ": ")
			if !elsewhere {
				folder, test = "faces", by
			}
			name, cell, _ := strings.Cut(test, "/")
			require.Regexp(t, `(?m)^func `+regexp.QuoteMeta(name)+`\(`, texts[folder])
			require.Contains(t, texts[folder], `"`+cell, "%s has no such cell", name)
		}
	}
}
