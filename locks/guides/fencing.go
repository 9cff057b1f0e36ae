// # Fencing: what a lock cannot do for you
//
// A lock says who may go in. It does not stand at the door. Anything may happen between the moment
// in which a program looks at its lease and the moment in which its write arrives. The garbage
// collector, the hypervisor or a debugger pauses the process; a switch holds the packet up; the
// disk takes half a minute. If the session has expired meanwhile, somebody else holds, has written,
// and the late write spoils it. No client library can exclude this, however careful it is, and
// neither can a better consensus: the write no longer has anything to do with the lock.
//
//	first holder    lock, token 33 ── pause ──────────────────── write, token 33 ──╮
//	servers                          session expires                               │
//	second holder                                   lock, token 34 ── write ──╮    │
//	resource                                                        34 seen   ✓    ✗ refused
//
// # What Turnstile does before that
//
// It makes the window as small as it can be made from outside. Lease.Valid reads the clock, so a
// process that was paused finds its lease over before it has heard anything
// (tests/matrix/paused_test.go). Lease.Context ends before the servers can give the lock away
// (zkconn's package doc proves it, tests/stalls attacks it on real ensembles). Do the work with
// that context: steps that have not begun by then do not begin. Lease.Deadline tells how long there is
// at least: do not begin work that takes longer and cannot be interrupted.
//
// Writes that have left the process are beyond that. In a soak, workers write on purpose after they have
// lost the lock. In an hour of faults, 51 such writes were refused for their tokens (go -C
// tests/soak run .; tests/README.md has figures).
//
// # What the resource does
//
// It remembers the greatest token that it has seen, and refuses smaller ones. It compares and
// writes in one atomic step.
//
//	SQL               UPDATE orders SET state = $1, fence = $2 WHERE id = 42 AND fence <= $2
//	                  and see to it that one row was changed
//	object store      keep the token in the object's metadata, read it, and put on the condition that the version or
//	                  ETag is the one that was read
//	ZooKeeper itself  Lease.Txn: the servers check the holder's node with the write. Nothing to compare: see below
//	your own service  a header with the token, a number for each resource, and 409 for a smaller one
//	commands          zklock run puts it into ZKLOCK_TOKEN
//
// Lease.Token is an int64 that grows from grant to grant of one lock path: across sessions, servers
// and leaders, and when the lock path is deleted and made again. It costs nothing,
// because it comes with the answer to the create (messages.Token says what it is made of). A lock
// WithSticky is granted again and again with one node, and still each grant has a token of its own
// (tests/kinds/sticky_test.go). The Example here, ExampleLease_Token of package locks, and the resources
// of tests/soak show late writes refused.
//
// # Where it is exact without a token
//
// Writes to ZooKeeper itself, in the client's own ensemble, need no token: Lease.Txn puts a check
// of the holder's node into the same transaction. While the node exists nobody else holds. So a
// write is carried out only under the lock, or not at all, and a holder that was paused is told
// ErrLost. That holds for locks WithSticky and WithCohort too, whose nodes serve one hold after the
// other: a hold is given back behind its transactions (tests/txn/virtual_test.go,
// tests/txn/paused_test.go). A transaction whose reply is lost is fenced and resolved, or its outcome
// is said to be unknown; it is never carried out twice (tests/txn/stuck_test.go). Use it for small
// data: the state of a job, the position in a stream, a configuration.
//
// # What tokens do not do
//
//   - Readers of an RWMutex and holders of a semaphore are several at a time. Their tokens differ,
//     and the smaller is as good as the greater: compare a reader's only with those of writers.
//     Readers that share a node have one token.
//   - All gives a lease for each lock, and so a token for each. A resource looks at the one of its
//     own lock.
//   - A lease for reading that Downgrade has given has the writer's token, and so has each lease of
//     a reentered hold.
//   - Tokens of two lock paths are not meant to be compared. A resource that several locks protect
//     remembers one for each.
//   - When the whole ensemble is wiped, or restored from a backup, the numbers begin again at a
//     smaller one. Put an epoch of your own before the token, and raise it on that day. Leases
//     overlap, too: keep such servers down for a session timeout.
//   - Holders of other libraries have no tokens. A resource that takes writes from them is not
//     fenced.
//
// # Where the resource cannot compare
//
// A mail that is sent, a valve that is opened, a third party's service: there a token is of no use,
// and neither is any other lock. Make the act idempotent, with a key that the receiver recognises.
// Or make it so rare that two of them can be borne, or have a person confirm it. A longer session
// timeout makes the collision rarer, and the outage after a crash longer. It makes nothing safe.
package guides
