package matrix

import (
	"testing"
)

// peer is a test of another lock library, and where the same is shown of Turnstile: or why it does not apply.
type peer struct {
	test string
	in   string   // a folder of this repository, or several with spaces between them
	by   []string // the tests there
	not  string   // why it does not apply
}

// curatorMutex: TestInterProcessMutexBase and TestInterProcessMutex.
var curatorMutex = []peer{
	{test: "testLocker", in: "locks", by: []string{"Example"}}, // defer lease.Unlock
	{test: "testWaitingProcessKilledServer", in: "tests/leases", by: []string{"TestServerComesBack"}},
	{test: "testKilledSession", in: "tests/faces", by: []string{"TestHolder/session expires", "TestWaiter/session expires"}},
	{test: "testContainerCleanup", in: "tests/actors", by: []string{"TestLockPathVanishesBehindItsLastContender"}},
	{test: "testWithNamespace", in: "tests/kinds", by: []string{"TestCrowd"}}, // each test has a chroot of its own
	{test: "testReentrantSingleLock", in: "tests/kinds", by: []string{"TestCrowd"}},
	{test: "testReentrant2Threads", in: "tests/kinds", by: []string{"TestWithinALeaseOfAnotherLock"}}, // a caller outside the lease waits
	{test: "testReentrant", in: "tests/kinds", by: []string{"TestReentry"}},
	{test: "test2Clients", in: "tests/faces tests/kinds", by: []string{"TestOneGrantAfterTheOther", "TestCrowd"}},
	{test: "testRevoking", in: "tests/faces", by: []string{"TestHolder/asked as Curator does", "TestHolder/grace runs out, asked as Curator does"}},
	{test: "testPersistentLock", not: "a lock here ends with its session: a node that stays would keep everybody out behind a holder that is dead"},
}

// curatorInternals: TestLockInternals, and TestLockCleanlinessWithFaults, which it was before.
var curatorInternals = []peer{
	{test: "testNodeDeletedCleanlyWithFaults", in: "tests/matrix",
		by: []string{"TestMatrix/acl-denies", "TestMatrix/reply-lost", "TestNodesOfALostRequestAreDeleted"}},
	{test: "testAttemptLockFailedException", in: "tests/matrix", by: []string{"TestExpiredIn/listing", "TestExpiredIn/creating"}},
}

// curatorSemaphoreMutex: TestInterProcessSemaphoreMutex has the tests of the base class but two.
var curatorSemaphoreMutex = []peer{
	{test: "testReentrant", not: "it is turned off there as well: that mutex cannot be taken again"},
	{test: "testReentrant2Threads", not: "it is turned off there as well: that mutex cannot be taken again"},
}

// kazooLock: KazooLockTests and TestSequence of test_lock.py.
var kazooLock = []peer{
	{test: "test_lock_one", in: "tests/faces", by: []string{"TestHolder/gives back"}},
	{test: "test_lock", in: "tests/faces", by: []string{"TestOneGrantAfterTheOther"}},
	{test: "test_lock_reconnect", in: "tests/faces", by: []string{"TestHolder/session expires", "TestWaiter/session expires"}},
	{test: "test_lock_non_blocking", in: "tests/faces", by: []string{"TestRefused/tries"}},
	{test: "test_lock_fail_first_call", in: "tests/faces", by: []string{"TestHolder/gives back"}},
	{test: "test_lock_cancel", in: "tests/leases tests/faces", by: []string{"TestCallerGoesWhileWaiting", "TestRefused/gives up"}},
	{test: "test_lock_no_double_calls", in: "tests/faces tests/leases", by: []string{"TestHolder/gives back twice, and does not want it", "TestUnlockCanBeWaitedForAgain"}},
	{test: "test_lock_same_thread_no_block", in: "tests/faces", by: []string{"TestRefused/tries"}},
	{test: "test_lock_many_threads_no_block", in: "tests/faces", by: []string{"TestRefused/tries"}},
	{test: "test_lock_many_threads", in: "tests/kinds", by: []string{"TestCrowd"}},
	{test: "test_lock_reacquire", in: "tests/actors", by: []string{"TestOperatorRemovesAnEmptyLockPath"}},
	{test: "test_lock_ephemeral", not: "nodes that outlive their session are not made: see testPersistentLock"},
	{test: "test_lock_timeout", in: "tests/faces tests/leases", by: []string{"TestRefused/its time is over", "TestCallerGoesWhileWaiting"}},
	{test: "test_read_lock", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "test_write_lock", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "test_rw_lock", in: "tests/kinds", by: []string{"TestOrder"}},
	{test: "test_get_predecessor", in: "actors/queue", by: []string{"TestSequencePassesOverForeignChildren", "TestFind"}},
	{test: "test_get_predecessor_go", in: "actors/queue", by: []string{"TestSequenceOfEveryClientsNames"}},
}

// kazooSemaphore: TestSemaphore of test_lock.py.
var kazooSemaphore = []peer{
	{test: "test_basic", in: "tests/kinds", by: []string{"TestCrowd"}},
	{test: "test_lock_one", in: "tests/kinds", by: []string{"TestWakes"}},
	{test: "test_non_blocking", in: "tests/kinds", by: []string{"TestOrder"}}, // TryAcquire
	{test: "test_non_blocking_release", in: "tests/faces", by: []string{"TestRefused/tries"}},
	{test: "test_holders", in: "tests/queues", by: []string{"TestQueueOfEachKind"}},
	{test: "test_semaphore_cancel", in: "tests/leases", by: []string{"TestCallerGoesWhileWaiting"}},
	{test: "test_multiple_acquire_and_release", in: "tests/kinds",
		by: []string{"TestReentry"}}, // permits are nobody's: a second one is a second one
	{test: "test_handle_session_loss", in: "tests/faces", by: []string{"TestWaiter/session expires"}},
	{test: "test_inconsistent_max_leases", in: "tests/kinds", by: []string{"TestExactPermits"}},
	{test: "test_inconsistent_max_leases_other_data", in: "tests/kinds", by: []string{"TestPermitsInTheLockPath"}},
	{test: "test_reacquire", in: "tests/actors", by: []string{"TestOperatorRemovesAnEmptyLockPath"}},
	{test: "test_acquire_after_cancelled", in: "tests/faces", by: []string{"TestGivingUpInTheMiddle"}},
	{test: "test_timeout", in: "tests/faces", by: []string{"TestRefused/its time is over"}},
}

// TestPeers: what other libraries test of their locks is tested here, by the tests that are named, or has a reason
// why it is not.
func TestPeers(t *testing.T) {
	for suite, tests := range map[string][]peer{
		"Curator's TestInterProcessMutex and its base":                       curatorMutex,
		"Curator's TestLockInternals":                                        curatorInternals,
		"Curator's TestInterProcessSemaphoreMutex, beside those of the base": curatorSemaphoreMutex,
		"Curator's TestInterProcessReadWriteLock":                            curatorReadWrite,
		"Curator's TestInterProcessSemaphore":                                curatorSemaphore,
		"Curator's TestInterProcessSemaphoreCluster":                         curatorSemaphoreCluster,
		"Curator's TestInterProcessMultiMutex, beside those of the base":     curatorMulti,
		"Curator's TestLockACLs":                                             curatorACLs,
		"kazoo's test_lock.py, locks":                                        kazooLock,
		"kazoo's test_lock.py, semaphores":                                   kazooSemaphore,
	} {
		shown := 0
		for _, p := range tests {
			if (p.not == "") == (len(p.by) == 0) {
				t.Errorf("%s, %s: it needs tests of ours, or else a reason", suite, p.test)
			}
			if len(p.by) > 0 {
				shown++
				requireTests(t, p.in, p.by...)
			}
		}
		t.Logf("%s: %d tests, %d shown, %d do not apply", suite, len(tests), shown, len(tests)-shown)
	}
}
