// Package interop runs the lock recipes of other ZooKeeper clients, and judges
// whether they keep each other out.
//
// A [Worker] is a process of another client: [NewCuratorWith] for Curator 5.9.0 in
// Java, [NewKazoo] for kazoo 2.11.0 in Python. Both understand the same [Job]:
// a recipe, a path, sessions, threads, rounds, how long to hold. A worker does
// many jobs, also several at a time, so one JVM serves a whole package of tests.
//
// A [Witness] belongs to the Go side. Every thread of every worker tells it when it is inside and
// when it leaves, and goes on only once it has the answer. So exclusion is judged over all
// processes at once, by none of those under test. Go code that holds a lock of its own calls
// [Witness.Enter] directly.
//
//	witness := interop.StartWitness(t)
//	curator, err := interop.NewCuratorWith()
//	summary, err := curator.Run(ctx, interop.Job{
//		Name: "curator", Connect: addr, Recipe: interop.Mutex, Path: "/orders/42",
//		Sessions: 3, Threads: 2, Rounds: 10, Witness: witness.Addr(),
//	})
//
// [Witness.Detain] keeps a holder inside until the test lets it go. So a test puts others in the
// queue behind it without any sleeping.
//
// # Who may share a queue
//
// On one lock path, by the names that they give to their nodes and the names that they look at:
//
//	clients                                   together  why                                            shown by
//	Turnstile, Curator's InterProcessMutex,   yes       all are named …lock-<number>, and ordered      TestTogether
//	go-zookeeper's Lock, and kazoo's Lock               by the number
//	subclassed with _NODE_NAME "-lock-"
//	Turnstile, go-zookeeper's Lock, kazoo's   yes       the first two read kazoo's <hex>__lock__<n>;   TestTogether
//	Lock with extra_lock_patterns=["-lock-"]            with the pattern kazoo reads theirs
//	Turnstile with kazoo's names, and         yes       both are named <hex>__lock__<n>                TestTogether
//	kazoo's Lock as it comes
//	kazoo's Lock as it comes, and Turnstile   no        kazoo looks at nothing but __lock__: it        TestApart
//	with its usual names, or go-zookeeper,              walks in on who holds
//	or Curator
//	Curator, and kazoo with names of its      no        Curator orders by what follows lock-, or by    TestApart
//	own, with or without the pattern                    the whole name: kazoo's come after its own
//	Curator's InterProcessReadWriteLock, and  no        Curator's writer looks at __READ__ and         TestApart
//	any mutex named …lock-<number>                      __WRIT__ only: it walks in
//	go-zookeeper's Lock, and a child that     no        its Lock fails on a name without a number,     TestZkLockFailsOnStrangers
//	is no lock's node, such as config                   and leaves its node, which blocks the queue
//	Curator, and a child that sorts before    no        Curator waits for it for ever                  TestCuratorWaitsForStrangersBeforeDigits
//	its number, such as -note
//	Turnstile, Curator and kazoo, and any     yes       they pass over it                              TestTogether
//	other child
//	semaphores of different clients           no        each looks at nodes of its own kind            TestApart
//
// Read and write locks, likewise:
//
//	clients                                   together  why                                            shown by
//	Turnstile, Curator's                      yes       all look at __READ__ and __WRIT__              TestTogether
//	InterProcessReadWriteLock, and kazoo's
//	ReadLock and WriteLock subclassed with
//	those names (python/curator_names.py)
//	Turnstile with kazoo's names, and         yes       both look at __rlock__ and __lock__            TestTogether
//	kazoo's ReadLock and WriteLock
//	kazoo's ReadLock, and a writer behind it  yes       since 2.9; before, the reader waited for it    TestKazooReaderPassesOverAWriterBehindIt
//	Turnstile's writer that becomes a reader, yes       the reader's node has the writer's number      TestTurnstileDowngradesBesideOthersWriters
//	and other writers
//	Curator's writer that becomes a reader,   yes       likewise since 5.5; before, a writer that      TestCuratorDowngradesBesideTurnstilesWriter
//	and other writers                                   waited already was let in beside the reader
//
// Asking for a lock works between Turnstile and Curator, both ways. Curator's Revoker writes
// __REVOKE__ to the holder's node, and a holder of Curator's that called makeRevocable understands
// the same (TestCuratorAsksTurnstile, TestTurnstileAsksCurator). kazoo and go-zookeeper know
// nothing of the kind. A queue that Turnstile reads names the library of each node
// (TestTogether).
//
// Package pinned names the versions of the clients; make deps has them fetched, once. A test that
// calls [Require] is skipped where they are missing, unless TURNSTILE_REQUIRE_SERVERS=1 says that
// this is a failure.
package interop
