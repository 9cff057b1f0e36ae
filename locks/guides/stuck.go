// # When a lock is stuck
//
// Look first, then ask, and only then break. The commands are those of examples/zklock. The
// dashboard (examples/dashboard) shows the same, and package locks has a method for each: Queue,
// Locks, Deadlocks, Revoke, Break.
//
//	zklock doctor                     is it ZooKeeper? then the lock is not the trouble
//	zklock queue /orders/42           who holds it, since when, who waits
//	zklock trace /orders/42           does it move?
//	zklock graph /                    does somebody wait for somebody who waits for him?
//	zklock revoke /orders/42          ask for it back
//	zklock break /orders/42 17        take contender number 17 out of the queue by force
//
// # What is seen, and what it means
//
//	somebody holds, for long            WHO is its machine and process: look there. It works, hangs, or waits for something
//	                                    else. LABEL says what it does, in its own words
//	the holder is another library's     WHO is a session: the servers' logs and "cons" tell its address
//	the process does not exist          it died less than a session timeout and a tick ago: the servers delete its node. If the node
//	any more                            stays, the session lives: somebody else has it, a parent or a thread, or the
//	                                    host's name is another machine's
//	a holder whose program says that    its lock is WithSticky, and the node is retained: it looks like one that is held. It
//	it does not hold the lock           goes as soon as somebody asks for the lock (tests/kinds/sticky_test.go), though a
//	                                    TryLock finds the lock taken that time
//	"revoking", and still there         it has been asked and does not react: it does not listen, or is in the middle
//	the holder has done nothing since   a queue shows its first contender as the holder, whether or not its process knows: it
//	its turn came                       may be stopped, swapped, or in a debugger
//	nobody holds a semaphore,           its number of permits is not recorded, or was made smaller than the number that the
//	somebody waits                      first waiter asks for
//	the same holder (NO) for long,      nothing moves: look at that holder. NO grows: it moves, and is slow or too short of
//	many wait                           permits. Under WithSticky NO stands still although it moves
//	waits for a node that is gone       the waiter may not READ its predecessor's node; it looks again after a session timeout
//	graph shows a circle                a deadlock: only one of its members that gives up ends it. Revoke, or break, the
//	                                    one with the least to lose; and lock with locks.All, or WithDeadlockDetection
//	graph or doctor names a possible    a process waits for its own lock, or two wait for each other's: Lock was
//	deadlock                            called again without the context of the lease, or two locks are taken in two orders.
//	                                    Where other workers of the process hold and wait there is no deadlock, and time shows that
//	a child that is no contender        Turnstile passes over it. zk.Lock fails on it, Curator waits for some
//	                                    (tests/interop, TestZkLockFailsOnStrangers, TestCuratorWaitsForStrangersBeforeDigits)
//
// # What each state means
//
// A recorder, a span or a log names the states of one request, as its own process sees it. A
// request that does not move on is in one of these:
//
//	creating     its node is asked for. Stays there: no connection, or the servers do not answer
//	listing      the queue is being read. The same
//	watching     somebody is before it, and is watched. The usual place to wait
//	held         it is ours
//	revoking     somebody has asked for it. With a grace the deadline runs, without one it is up to the holder
//	recovering   the connection is down, or an answer was lost. A holder's lease goes on until its deadline; then it is lost.
//	             A waiter keeps its place if the connection comes back in time
//	releasing    the delete is on its way, and is tried again until it is known to be done, or the session has ended
//
// The ends are released, lost, cancelled and failed, and each comes with a reason: package messages
// lists them. The diagram of all that can happen is in actors/machine/README.md; it is drawn from
// the table that the code runs on.
//
// # To ask
//
// Revoke takes nothing away. A Turnstile holder hears it (Lease.Revoked, messages.RevokeRequested).
// One that locked WithGrace is released when that is over. One of Curator's hears it if it was made
// revocable; go-zookeeper's and kazoo's do not. zklock run ends its command and exits with 80,
// unless it was started with --keep. The queue goes on showing who holds where the node is
// Turnstile's: the request is written beside that. Where Curator has asked, its request overwrites
// the node, and the holder writes it again. The data of other libraries' nodes are overwritten:
// read the queue first.
//
// # To break
//
// Break deletes the contender's node, and the next one is let in at once. The old holder's work
// goes on: only a resource that checks fencing tokens is safe from that. So stop the process first
// if you can reach it. Killing it frees the lock as well, after a session timeout and a tick at the
// latest. A living holder of Turnstile's is told Lost at once (tests/queues/break_test.go); others notice
// nothing. A waiter that is broken queues again at the end.
//
// A Lock that was given up says in its error behind whom it waited: the node, and where that says
// so, the holder's label and process, and since when. WithUnreleased finds the Lock that nobody
// gave back.
//
// Do not delete nodes by zkCli: it is Break without the checks whose node it is, and the same
// command from the shell's history later deletes somebody else's. Do not delete the lock path while
// it has contenders. Do not restart ZooKeeper: sessions survive that, and so do their locks.
//
// # So that it does not happen again
//
// Give locks labels. Give Lock a context with a deadline, so that waiters give up and say so. Hold
// locks for short times: lock around the write, not around the download. Listen to Lease.Revoked,
// or lock WithGrace, so that asking suffices. Use locks.All for several locks. Give processes a
// session file, so that a crash costs nothing. And let the resource check tokens: then breaking a
// lock is an inconvenience, and not a risk.
package guides
