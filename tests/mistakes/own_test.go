package mistakes

import (
	"go/format"
	"os/exec"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type ownMistake struct {
	Mistake
	suite, test string
}

// own are mistakes in rules that no run of a whole suite is needed for: the tests of the rule's package find them, or those
// of the folder in which it is shown. TestLateRequestsFind has some of them, too. Nine were found by nothing at first, and have a test
// since.
var own = []ownMistake{
	{in("actors/queue", "eleven-digits", "a number of eleven characters that begins with a zero is a contender's",
		"return digits[0] == '-' && digits[1] != '0'", "return digits[0] == '-'"),
		"actors/queue", "TestSequencePassesOverForeignChildren"},
	{in("actors/queue", "full-semaphore", "the first waiter of a full semaphore watches only the contender before it",
		"if before.taken <= before.permits {", "if before.taken < before.permits {"),
		"actors/queue", "TestSemaphoreOfTheQueue"},
	{in("actors/queue", "kazoo-downgrade", "a writer of kazoo's is not expected to read at its own number",
		"return e.Mode == messages.Write || e.Naming == messages.KazooNaming && e.Mode == messages.Exclusive",
		"return e.Mode == messages.Write"),
		"actors/queue", "TestFind"},
	{in("actors/queue", "replaced-head", "the end of a node that may be reclaimed is the turn of the one behind it",
		"n == 1 && !q.entries[0].mayDowngrade() && !mayBeReplaced(by[0])", "n == 1 && !q.entries[0].mayDowngrade()"),
		"actors/queue", "TestReplacedNodeIsNotGone"},
	{in("actors/queue", "replaced-head-of-readers", "a reader takes it so, too",
		"position.Head = n == 1 && !mayBeReplaced(by[0])", "position.Head = n == 1"),
		"actors/queue", "TestReplacedNodeIsNotGone"},
	{in("actors/queue", "reclaimable-name", "the name of a queue begins with what marks a node to reclaim",
		"\trest = strings.TrimPrefix(rest, Reclaimable)\n", ""),
		"actors/queue", "TestReplacedNodeIsNotGone"},
	{in("actors/queue", "asked-holder", "a holder that was asked for the lock is believed to keep it",
		"\t\tc.Who = \"\" // it is believed to give its locks back\n", ""),
		"actors/queue", "TestPossibleDeadlocksByWhatIsKnown"},
	{in("actors/queue", "same-number", "a reader at a writer's number comes before it where its GUID does",
		"cmp.Compare(a.reads(), b.reads()),\n", "\n"),
		"actors/queue", "TestDowngradeKeepsWritersOut"},

	{in("actors/machine", "seated-without-lease", "a lock is granted with a node of the session though the lease is over",
		"{creating, Seated, leased, held, grant},\n\t{creating, Seated, always, recovery, verify},",
		"{creating, Seated, always, held, grant},"),
		"actors/machine", "TestHistories"},
	{in("actors/machine", "stale-after-a-cut", "a holder believes an answer to what it asked before the connection was lost",
		"\tsuspend = Action{\"suspend\", func(m *Machine, _ Event) Effects {\n\t\tm.recover()\n\t\tm.Op++\n",
		"\tsuspend = Action{\"suspend\", func(m *Machine, _ Event) Effects {\n\t\tm.recover()\n"),
		"actors/machine", "TestTraces"},
	{in("actors/machine", "revoke-forgotten", "a revoke request that comes while a holder recovers is forgotten",
		"\t\tm.From = messages.StateRevoking\n", ""),
		"actors/machine", "TestTraces"},
	{in("actors/machine", "deleted-not-told", "a holder that was paused hears that its lease is over in place of why",
		"Expired: true, Closed: true, NodeGone: true", "Expired: true, Closed: true"),
		"actors/machine", "TestStepIsAFunction"},
	{in("actors/machine", "token-kept", "a request that queues anew has the token of its old node",
		"m.Node, m.Token, m.Predecessor = \"\", 0, \"\"", "m.Node, m.Predecessor = \"\", \"\""),
		"actors/machine", "TestTraces"},
	{in("actors/machine", "stale-says-more", "a stale event ends a hold in place of the end of its lease",
		"(m.Stale(ev) || !saysMore[ev.Kind])", "!saysMore[ev.Kind]"),
		"actors/machine", "TestStepIsAFunction"},

	{in("actors/term", "lead-stays-vacant", "who loses each term at once campaigns without a pause",
		"m.Outcome == LeaseLost && took >= retry.Campaign.First", "m.Outcome == LeaseLost && took >= 0*retry.Campaign.First"),
		"actors/term", "TestStories"},
	{in("actors/term", "work-without-a-lease", "work begins though the lease is over already",
		"\t\tif !ev.Valid { // the end of the lock is about to be told\n\t\t\treturn nil\n\t\t}\n", ""),
		"actors/term", "TestWorkOnlyWhileHeld"},
	{in("actors/term", "released-under-the-work", "the lock is given back when somebody asks for it, while the work runs",
		"\tm.note(ev).Phase = how.To\n\treturn how.Do\n", "\treturn m.note(ev).release()\n"),
		"actors/term", "TestGivenBackWithoutWork"},
	{in("actors/term", "campaigns-over-the-lock", "the next campaign begins while the lock of a lapsed lease may still be there",
		"\tcase WorkEnded: // to release is how to learn that the lock is gone\n\t\treturn m.note(ev).release()",
		"\tcase WorkEnded:\n\t\treturn m.note(ev).next(ev)"),
		"actors/term", "TestCampaignsWhenTheLockIsGone"},
	{in("actors/term", "panic-in-stopping", "work that its supervisor brings back while it is being stopped goes on",
		"\tcase WorkRestarted: // it panicked while it was being stopped, and would go on\n\t\treturn stopWork\n", ""),
		"actors/term", "TestNeverStandsStill"},

	{in("actors/activation", "context-behind-the-step", "the lock actor goes on before the context of a lost lease has ended",
		"\tg.lease.cancel(g.cause)\n", "\ttime.AfterFunc(time.Second, func() { g.lease.cancel(g.why()) })\n"),
		"actors/activation", "TestContextEndsWithTheStep"},
	{in("actors/activation", "lock-asked-for-once", "an actor whose lock actor could not be spawned waits for ever",
		"if g.gate.now() == term.Campaigning {", "if g.lock != nil {"),
		"tests/activation", "TestSpawnFails"},
	{in("locks", "unhealthy-behind-lead", "Health fails until the session says how the lease of a lead that has returned has ended",
		"\tdefer c.terms.end(leads)\n", "\tdefer func() { context.AfterFunc(leads.ctx, func() { c.terms.end(leads) }) }()\n"),
		"locks", "TestHealthyWhenLeadHasReturned"},

	{in(rules, "same-node-checked", "heartbeats check one held node over and over, and not the others",
		"holds == held && n.checkedBefore(next)", "holds == held && n == next"),
		rules, "TestStories"},
	{in(rules, "written-forgotten", "a node that was written to between the listing and the watch is expected to be unwritten",
		"r.view.written, same = p.name, false", "same = false"),
		rules, "TestStories"},
	{in(rules, "departed-forgotten", "a listing that still shows the predecessor that has gone is believed",
		"\t\tr.view.departed = w.nodes[0]\n", "\t\t_ = w.nodes[0]\n"),
		rules, "TestStories"},
	{in(rules, "watch-kept", "a request that leaves its node still hears of it",
		"\tif r.own.phase == watched {\n", "\tif r.own.phase > watched {\n"),
		rules, "TestRandomly"},

	{in("zkconn", "term-goes-on", "a lease that was over and is renewed is the same term",
		"over := &leaseState{term: old.term + 1, had: true", "over := &leaseState{term: old.term, had: true"),
		"zkconn", "TestLeaseClockIsSet"},
	{in("zkconn", "refused-at-once", "a client with a refused credential dials as fast as the network allows",
		"\tcase h.refused.Load():\n\t\treturn false\n\tcase h.answered", "\tcase h.answered"),
		"zkconn", "TestHostsSlowDownForRefusedCredentials"},
	{in("zkconn", "other-session", "a client takes the session that a server hands out in place of its own",
		"\t\treturn fmt.Errorf(\"%w: %#x for %#x\", ErrOtherSession, reply.sessionID, had)\n",
		"\t\treturn nil\n"),
		"zkconn", "TestSessionOfAnother"},
	{in("zkconn", "parent-of-others", "a parent with somebody's data is deleted when the node below it was refused",
		"if len(found) > 0 && !bytes.Equal(found, data) {", "if len(found) > 0 && bytes.Equal(found, nil) {"),
		"zkconn", "TestParentsAreRemoved"},
	{in("zkconn", "lost-server-first", "the server that was just lost may be the first to be dialed",
		"\t\t\treturn 1\n\t\tcase b.address == last:\n\t\t\treturn -1",
		"\t\t\treturn 0\n\t\tcase b.address == last:\n\t\t\treturn 0"),
		"zkconn", "TestHostsTryTheLostServerLast"},
	{in("zkconn", "unheard-changes", "a transaction counts as carried out though older changes may not have been heard of",
		"if exclusive && before.Whole && f.witnesses > 0", "if exclusive && f.witnesses > 0"),
		"zkconn", "TestTxnIsResolvedByAllThatItTakes"},
	{in("zkconn", "two-transactions", "nodes that two transactions wrote prove that one was carried out",
		"f.contradicted = f.contradicted || !agrees || zxid != f.zxid", "f.contradicted = f.contradicted || !agrees"),
		"zkconn", "TestTxnIsResolvedByAllThatItTakes"},

	{in("zkconn", "fence-over-all", "a fence writes over what somebody writes to the guard at that moment",
		"err = c.SetDataAt(guard.Path, data, stat.Version)", "err = c.SetDataAt(guard.Path, data, -1)"),
		"zkconn", "TestFenceRaces"},
	{in("zkconn", "gone-unproved", "a guard that a server does not show is believed to be gone",
		"if err = c.Heartbeat(guard.Path); errors.Is(err, ErrNoNode) {", "if err != nil {"),
		"zkconn", "TestFenceOfAGuardThatIsGone"},
	{in("zkconn", "guard-of-any-version", "a transaction does not check the version of its guard",
		"CheckVersionRequest{Path: c.cfg.chroot + guard.Path, Version: guard.Version}",
		"CheckVersionRequest{Path: c.cfg.chroot + guard.Path, Version: -1}"),
		"zkconn", "TestFence"},

	{in("actors", "not-fenced", "a transaction whose reply was lost is resolved though it may yet be carried out",
		"now, err := on.Fence(guard)", "now, err := guard, on.Heartbeat(guard.Path)"),
		"tests/txn", "TestFenceOfEachKind"},

	{in("locks", "loss-remembered", "Election.Run ends with the loss of a term before the last",
		"func (c *candidacy) begins() { c.loss = nil }", "func (c *candidacy) begins() {}"),
		"locks", "TestCandidacy"},
	{in("locks", "work-after-the-lease", "Do calls the work although the lease is over",
		"\tif t.look(lease) {\n", "\tif t.look(lease) || within != nil {\n"),
		"locks", "TestWorkDoesNotBeginAfterTheLease"},
	{in("locks", "lease-is-valid", "Do begins a term under a lease that is over",
		"\tif lease.Valid() {\n\t\treturn term.Event{Kind: term.Held", "\tif lease != nil {\n\t\treturn term.Event{Kind: term.Held"),
		"locks", "TestTermDoesNotBeginAfterTheLease"},
	{in("locks", "shared-hold", "a transaction is resolved by nodes that another lease of the hold may have written",
		" && want.Owner == \"\" &&\n\t\t!l.shared.Load()", " && want.Owner == \"\""),
		"tests/txn", "TestReplyToTxnIsLost"},
	{in("locks", "failed-instant", "an instant whose run failed is caught up without WithRetryAfter",
		"last.State != MarkDone && j.retries {\n\t\tadd", "last.State != MarkDone {\n\t\tadd"),
		"tests/runonce", "TestCatchUpAfterFailures/embedded"},

	{in("actors/internal/carrier", "path-left", "a lock path that was made for a node that is refused stays",
		"if a.Failure.Outcome == coordinator.Refused && a.Node.Name == \"\" {", "if len(a.Node.Name) < 0 {"),
		"tests/refusals", "TestRefusedLockLeavesNoPath"},
	{in("actors/queue", "asked-by-its-id", "a revoke request keeps the ID of a holder in a contest",
		"o.Asked, o.ID = true, \"\"", "o.Asked = true"),
		"tests/elections", "TestContestSaysWhoHoldsAgain"},
	{in("actors/internal/carrier", "says-of-another", "the holder of a contest writes to a node that has become another's",
		"contest && czxid != q.Czxid || !contest", "!contest"),
		"actors/internal/carrier", "TestSaysAgain"},
	{in("actors/internal/carrier", "asked-and-retained", "a revoke request on a node that is about to be retained is not seen",
		"Spent: err != nil || queue.IsRevokeRequest(data)", "Spent: err != nil || len(data) < 0"),
		"actors/internal/carrier", "TestRetainedNodeIsWatched"},
	{in("actors/internal/carrier", "replaced-in-a-contest", "the holder of a contest deletes a node that has become another's",
		"if err != nil || stat.Czxid != q.Czxid {", "if err != nil || stat.Czxid < 0 {"),
		"tests/elections", "TestContestNodeIsReplaced"},
	{in("actors/internal/carrier", "removed-by-its-name", "a contest's node is deleted without its guard, which a late delete does to another's, too",
		"if guard == \"\" {\n\t\t\terr = k.Conn.DeleteAt", "if len(guard) >= 0 {\n\t\t\terr = k.Conn.DeleteAt"),
		"tests/elections", "TestContestRemovedLate"},
	{in("actors/internal/carrier", "guard-not-searched", "the guard of a contest's node stays where the data do not tell it",
		"if k.ours(stat) && stat.Czxid == q.Czxid {", "if k.ours(stat) && stat.Czxid < 0 {"),
		"actors/internal/carrier", "TestRemoveContest"},
	{in("actors/internal/carrier", "guard-left", "the guard stays of a contest's node that is gone",
		"if failed := k.removeGuard(q); failed != nil {", "if failed := error(nil); failed != nil {"),
		"actors/internal/carrier", "TestRemoveContest"},
	{in("actors/internal/carrier", "guard-deleted-unseen", "a guard that is not there is deleted, and later that of a late create",
		"case !exists || ours &&", "case !exists && guard == \"\" || ours &&"),
		"actors/internal/carrier", "TestFindDeletesTheGuardThatIsLeft"},
	{in("actors/internal/carrier", "orphan-of-others", "another session's node is taken for an orphan of this one",
		"lookErr == nil && exists && k.ours(stat):", "lookErr == nil && exists:"),
		"actors/internal/carrier", "TestFindOrphans"},
	{in("actors/internal/carrier", "taken-though-it-goes", "a search takes a node whose delete was sent before",
		"a.Name == \"\" && !slices.Contains(q.Not, child):", "a.Name == \"\":"),
		"actors/internal/carrier", "TestFind"},
	{in("actors/internal/carrier", "silent-grant", "the holder of a permit does not tell the waiter behind it that it holds",
		"q.Announce && tries < 3", "q.Announce && tries < 0"),
		"tests/kinds", "TestMovesUpBetweenTheListingAndTheWatch"},
	{in("actors/internal/carrier", "asked-and-reclaimed", "a hold that somebody asked for is reclaimed after a crash",
		" ||\n\t\tqueue.IsRevokeRequest(data) {", " {"),
		"tests/restarts", "TestNotReclaimed/revoke_requested/embedded"},
	{in("actors/internal/carrier", "found-of-another-session", "a request takes a node that another session made for it",
		"case !exists || stat.EphemeralOwner != k.Conn.SessionID():", "case !exists:"),
		"actors/internal/carrier", "TestFind"},
	{in("actors/internal/carrier", "found-twice", "the second node of a request stays, and keeps everybody out",
		"\t\t\tif err := k.Conn.Delete(q.Spec.At(child)); err != nil && !errors.Is(err, zkconn.ErrNoNode) {\n\t\t\t\treturn err\n\t\t\t}\n", ""),
		"actors/internal/carrier", "TestFind"},
	{in("actors/internal/carrier", "looked-once", "that a node does not exist is believed of a server that lags",
		"if err := k.searchOnce(q, a); err != nil || a.Name != \"\" {", "if err := k.searchOnce(q, a); err != nil || len(a.Name) >= 0 {"),
		"tests/matrix", "TestMatrix"},
	{in("actors/internal/carrier", "described-elsewhere", "a node that is written to anew says another place",
		"ownerData(q.Spec, was.Place), stat.Version", "ownerData(q.Spec, 0), stat.Version"),
		"actors/internal/carrier", "TestDescribe"},
	{in("actors/internal/carrier", "described-over", "what a node says is written over a revoke request that comes at that moment",
		"was, ours := queue.ParseOwner(data)\n", "was, ours := queue.ParseOwner(data)\n\tstat.Version = -1\n"),
		"actors/internal/carrier", "TestDescribe"},
}

// in is a mistake that one edit of a package makes.
func in(folder, name, what, was, is string) Mistake {
	return Mistake{Name: name, What: what, Edits: []Edit{{Package: folder, Old: was, New: is}}}
}

// TestOwnMistakesApply: each applies to the present code, and all of them together compile: by itself each would take a
// second.
func TestOwnMistakesApply(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	all, seen, packages := Mistake{Name: "all"}, map[string]bool{}, []string{}
	for _, c := range own {
		require.False(t, seen[c.Name], "two mistakes are called %s", c.Name)
		seen[c.Name] = true
		all.Edits = append(all.Edits, c.Edits...)
		packages = append(packages, "./"+c.Edits[0].Package)
	}
	changed, err := all.apply(root)
	require.NoError(t, err)
	for file, text := range changed {
		_, err := format.Source([]byte(text))
		require.NoError(t, err, path.Base(file))
	}
	overlay, err := all.Overlay(root, t.TempDir())
	require.NoError(t, err)
	slices.Sort(packages)
	build := exec.Command("go", append([]string{"build", "-overlay", overlay}, slices.Compact(packages)...)...)
	build.Dir = root
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
