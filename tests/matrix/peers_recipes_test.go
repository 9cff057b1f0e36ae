package matrix

// curatorReadWrite: TestInterProcessReadWriteLock, and two tests that it had in other releases.
var curatorReadWrite = []peer{
	{test: "testGetParticipantNodes", in: "tests/queues", by: []string{"TestQueueOfEachKind"}},
	{test: "testThatUpgradingIsDisallowed", in: "tests/kinds", by: []string{"TestUpgradeIsRefused"}}, // there it waits until its time is over
	{test: "testThatDowngradingRespectsThreads", in: "tests/kinds", by: []string{"TestOrder", "TestDowngradeBeforeACrowd"}},
	{test: "testDowngrading", in: "tests/kinds", by: []string{"TestDowngradeBeforeACrowd"}},
	{test: "testContendingDowngrading", in: "tests/kinds", by: []string{"TestDowngradeBeforeACrowd"}},
	{test: "testBasic", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "testSetNodeData", not: "a contender's data are Turnstile's own; a caller's text is their label, and Queue shows it"},
	{test: "testLockPath", in: "tests/matrix tests/kinds", by: []string{"TestRecipes", "TestEveryKindIsFreeWhenItsHolderCloses"}},
	{test: "testOrdering", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "testWriterAgainstConstantReaders", in: "tests/kinds", by: []string{"TestOrder"}},
}

// curatorSemaphore: TestInterProcessSemaphore.
var curatorSemaphore = []peer{
	{test: "testAcquireAfterLostServer", in: "tests/leases", by: []string{"TestServerComesBack"}}, // what waits is the same for every kind
	{test: "testThreadedLeaseIncrease", in: "tests/kinds", by: []string{"TestPermitsChange"}},
	{test: "testClientClose", in: "tests/kinds", by: []string{"TestEveryKindIsFreeWhenItsHolderCloses"}},
	{test: "testMaxPerSession", in: "tests/kinds", by: []string{"TestOrder", "TestCrowd"}},
	{test: "testRelease1AtATime", in: "tests/kinds", by: []string{"TestCrowd"}},
	{test: "testReleaseInChunks", in: "tests/kinds", by: []string{"TestCrowd", "TestOrder"}},
	{test: "testThreads", in: "tests/kinds", by: []string{"TestCrowd"}},
	{test: "testSimple", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "testSimple2", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "testGetParticipantNodes", in: "tests/queues", by: []string{"TestQueueOfEachKind"}},
	{test: "testChildReaperCleansUpLockNodes", in: "tests/actors", by: []string{"TestLockPathVanishesBehindItsLastContender"}}, // a container
	{test: "testNoOrphanedNodes", in: "tests/matrix", by: []string{"TestRecipes"}},
}

// curatorSemaphoreCluster: TestInterProcessSemaphoreCluster.
var curatorSemaphoreCluster = []peer{
	{test: "testKilledServerWithEnsembleProvider", not: "a client keeps to its list of servers; names in it are resolved anew each round"},
	{test: "testCluster", in: "tests/leases", by: []string{"TestServerComesBack"}},
}

// curatorMulti: TestInterProcessMultiMutex.
var curatorMulti = []peer{
	{test: "testSomeReleasesFail", in: "tests/faces", by: []string{"TestSeveralLocksLoseOne"}},
	{test: "testSomeLocksFailToLock", in: "tests/faces", by: []string{"TestSeveralLocksAreGivenUp"}},
}

// curatorACLs: TestLockACLs.
var curatorACLs = []peer{
	{test: "testLockACLs", in: "tests/access", by: []string{"TestACLOfWhatIsMade"}},
	{test: "testACLsCreatingParents", in: "tests/access", by: []string{"TestACLOfWhatIsMade", "TestStricterAncestors"}},
}
