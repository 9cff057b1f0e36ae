// Package locks gives Go programs locks across machines, kept by ZooKeeper.
//
//	opening, cancel := context.WithTimeout(ctx, 30*time.Second) // a wrong host is an error, then
//	defer cancel()
//	client, err := locks.Open(opening, "zk1:2181,zk2:2181,zk3:2181/app", locks.WithSessionTimeout(10*time.Second))
//	defer client.Close(context.WithoutCancel(ctx))
//	err = locks.Do(ctx, client.Mutex("/orders/42"), func(ctx context.Context, token locks.Token) error {
//		return store.Write(ctx, row, token) // ctx ends when the lock is lost
//	})
//
// # What is here
//
//   - To begin: [Open] gives a [Client].
//   - To hold: [Do]. Work that is no function uses Lock and TryLock of each kind, which give a
//     [Lease] with its [Token]. [All] takes several locks and gives [Leases]. [Try] does not wait.
//     [LeaseOf] gives the lease within the work.
//   - Kinds of locks: [Mutex], [RWMutex], [Semaphore], [Contest]; each is a [Locker]. [Keyed] has one
//     for each key; [Named] is the same for callers that keep no lease, and [OneKey] one key of it.
//   - To run jobs: [RunOnce] in a period, [RunOnceFor] an instant of a schedule ([InstantOf],
//     [ErrNotRun]). Both give a [Once], with a [OnceOutcome] ([OnceRan], [OnceAlreadyRan],
//     [OnceNotDue], [OnceBusy], [OnceSuperseded], [OnceTooLate]) and a [Mark] with a [MarkState]
//     ([MarkDone], [MarkBegun], [MarkFailed], [MarkNone]). Options: [AckWith], [WithMarkFirst], [WithRetryAfter],
//     [WithWaiting], [WithStartDeadline], [WithCatchUp].
//   - To lead: [Election]; [Leadership], [Leader], [ErrNoLeader].
//   - To know who is there: [Group], [Membership], [Member].
//   - To read and write ZooKeeper while a lock is held: Lease.Get; Lease.Txn of [Op], which
//     [Create], [CreateSequential], [Set], [Delete] and [Check] make, with [AnyVersion] or a
//     version, and [OpResult]; [ErrUnknownOutcome].
//   - To be told: Lease.Context; [WithOnChange] of [Change], whose [ChangeKind] is [Waiting],
//     [Suspended], [Resumed], [RevokeRequested] or [Lost]; [WithUnreleased] of [Unreleased].
//     Client.Ready, and Client.State, which gives an actors.Connection.
//   - When something fails: [Error] has the path, the node, the state, and behind whom; the
//     variables below are the errors to test for, by when they come. [DeadlockError] has the circle.
//     [MayPass] splits errors in two, and [ErrAgain] marks yours.
//   - For operators: Client.Queue, Locks, Missing, Revoke ([ErrNotHolding]), Break ([ErrGone]),
//     Deadlocks, PossibleDeadlocks, SetPermits, Permits, ObservePermits.
//   - Gateways: [NewClient] of a [Source].
//   - Options, by type: [Option], [LockOption], [ElectionOption], [OnceOption], [InstantOption].
//
// # What a lease promises
//
// From Lock until the lease ends, nobody else has a valid lease of an exclusive lock. Readers, and
// holders of permits, share theirs among themselves.
//
//	deadline = s + 0.4 T                 s: when the newest heartbeat was sent; at a steady rate
//	token    = czxid << 10 | place       czxid: of the holder's node; place: among the grants with that czxid, from 0
//
// T is the session timeout that the servers have granted. Right after a connection was made, the
// deadline is up to 0.9 T away. Package zkconn/lease has the exact rule and its proof.
//
//   - Who decides: the nodes at the servers decide who holds. The lease says for how long this
//     process may rely on it.
//   - Which clock: this process's monotonic clock, plus the time for which the machine was
//     suspended. Clocks of machines are never compared.
//   - Renewal (keepalive): while anything is held or waited for, the client sends a heartbeat every
//     T/6.
//   - A loss is final, even when the connection comes back. Lock again for a new lease.
//   - Lease.Context ends when the lease is lost, revoked or given back, and no later than the
//     deadline. context.Cause says why. In a process that was paused, Lease.Valid knows before the
//     context does.
//   - The fencing token is for work that has left this process by then. It grows from grant to grant
//     of one exclusive lock path. The resource refuses tokens smaller than the greatest it has seen.
//
// # What happens on a failure
//
//   - The connection is lost and comes back in time: the lease goes on.
//   - It does not come back in time, or the session expires: the lease's context ends with ErrLost.
//     A waiter in Lock queues again in the next session, if its options allow.
//   - A reply is lost: Turnstile finds out what became of the request. A node that a server makes
//     later is found and removed (LIMITS). Lease.Txn says what is known.
//   - The ensemble is gone: Lock and Unlock return when ctx ends, Unlock with ErrUnconfirmed when the
//     lease is over, which is within T. The session goes on deleting the node.
//   - Close cannot tell the servers that the session ends: it returns ErrSessionRemains. Others
//     wait for the locks until the session has expired.
//
// # The kinds
//
//   - Mutex: exclusive, first come, first served.
//   - RWMutex: readers together or one writer, in the order of the queue. A writer may become a
//     reader with nobody in between (Lease.Downgrade), a reader no writer (ErrUpgrade).
//   - Semaphore: a number of permits, of which a lease takes one or more.
//   - Contest: one node, which its maker holds; no order. For lock paths that others use so.
//   - All: several of these as one, in an order in which no two callers wait for each other.
//
// # Who holds
//
// Ownership follows the context, not the goroutine. Lock with the context of a lease, or one
// derived from it, locks within that lease. There the same lock is refused (ErrReentry) unless made
// WithReentry.
//
// # What callbacks may do
//
// A client calls functions of yours. None of them keeps a lease's context open beyond its deadline.
//
//   - Told: log handlers (WithLogger), with protoactor's records in a system that Open made (for one
//     of your own see "The lock actor" in package actors); instruments (WithMeterProvider); spans
//     after their start (WithTracerProvider). Each kind has a bounded queue and a goroutine (package
//     told), which keep order and times: a bad function delays its own queue only. What has no room
//     is dropped and counted, as panics are (Session.Counters, Untold). Close waits for the rest
//     until its ctx ends.
//   - Asked: Start of a tracer and WithMeterLabels, on the goroutine of the call of Lock, which
//     waits; Enabled of a log handler, which must return at once. A panic of Start is the caller's,
//     one of the labels is the error of that Lock.
//   - Needed: dialers, SASL mechanisms, functions of a TLS configuration, WithParentACLFunc. That
//     connection or request waits, and fails on a panic. Such a function must not wait for the same
//     client. WithSuspendedTime must return at once: whatever reads the clock waits for it, except
//     the end of contexts. A panic, or a call of more than a second, ends the leases.
//   - WithOnChange, WithOnLost and WithUnreleased have a goroutine, and may lock, unlock and ask.
//     Calls of the first two come one after the other, so one that waits for a later one waits for
//     ever. Close waits, until its ctx ends, for the reports of WithUnreleased that it causes, and
//     for no call of WithOnChange. A panic is logged.
//
// # Guides
//
// The guides (locks/guides/README.md) have what a reference does not tell: what a lock cannot do and
// the fencing token can; services; locks by key, and libraries that ask for a Locker; choosing a
// session timeout; a session on each node, or a gateway; moving from Curator, go-zookeeper's Lock,
// kazoo or etcd; production, Kubernetes and Kerberos; supervisors; testing; stuck locks.
//
// # Glossary
//
//   - lock path: the parent znode of a queue.
//   - contender: one request. Contender node: its ephemeral sequential node below the lock path.
//   - GUID: the part of the name that finds our node when a create's reply was lost
//     (ZOOKEEPER-1262).
//   - predecessor: the contender that a waiter waits for.
//   - holder: the contender that has the lock. Grant: when it gets it. Lease: the handle, and the
//     time for which it may be relied on.
//   - suspended: the connection is lost and the lease still runs. Expired: the servers have ended
//     the session.
//   - herd (thundering herd): many waiters woken by one release. Here a release wakes two at most.
//   - group commit: creates and deletes of one session in one transaction. Pipelining: a request is
//     sent before the one ahead of it is answered.
//   - lost wake-up: a waiter misses its event. Waiters look again once a session timeout (Counters of
//     actors.Session).
//   - split brain: two act as the holder. Lease and fencing token guard against it.
//   - revoke: ask the holder for the lock. Release: give it back. Stale: a reply to a superseded
//     operation.
package locks
