// Package locks is what a Go program imports to lock across machines with ZooKeeper.
//
//	client, err := locks.Open(ctx, "zk1:2181,zk2:2181,zk3:2181/app", locks.WithSessionTimeout(10*time.Second))
//	defer client.Close(ctx)
//	err = locks.Do(ctx, client.Mutex("/orders/42"), func(ctx context.Context, token locks.Token) error {
//		return store.Write(ctx, row, token) // ctx ends when the lock is lost
//	})
//
// # What is here
//
//   - To begin: Open and its Options; Client.Mutex and the other kinds.
//   - To hold: Do; for what has another shape Lock and TryLock of each kind, which give a Lease; All for several locks.
//   - To run jobs: RunOnce, which gives a Once with a Mark; AckWith, WithMarkFirst, WithRetryAfter, WithWaiting.
//   - To lead: Election.Run, IsLeader, Health; Observe for who follows.
//   - To know who is there: Client.Group.
//   - To write to ZooKeeper while a lock is held: Lease.Txn with Create, Set, Delete, Check; LeaseOf.
//   - To be told: Lease.Context, WithOnChange; Client.State and Ready; MayPass and the errors.
//   - For operators: Client.Queue, Locks, Revoke, Break, Deadlocks, SetPermits.
//   - Options of a lock, by what they are for: for people WithLabel; to bound a hold WithMaxHold, WithGrace; for speed
//     WithSticky, WithCohort; against deadlocks WithReentry, WithDeadlockDetection; for an election WithPriority; to
//     be told WithOnChange, WithObserver; for restarts WithReclaim; for queues of others WithName, WithNaming,
//     WithWatchAll.
//
// # What a lease promises
//
// From Lock until its context ends, nobody else has a valid lease of an exclusive lock; readers, and
// holders of permits, share theirs with each other only. The context ends when the lease is given back,
// when the session has expired, and in any case before the servers can give the lock to somebody else:
// mostly 0.4 session timeouts after this client sent its newest heartbeat. Package zkconn has the rule and its proof.
// A lease that is lost is lost for good. Work that has left this process by then cannot be
// called back; that is what the fencing token is for: hand it to the resource, and let the resource
// refuse smaller ones than it has seen.
//
// # What happens on a failure
//
//   - The connection is lost and comes back in time: nothing is to be done, the lease goes on.
//   - It does not come back in time, or the session expires: the lease's context ends with ErrLost;
//     whoever waits in Lock queues again in the next session.
//   - A reply is lost: Turnstile finds out what became of the request. No node is ever left behind.
//   - The ensemble is gone: Lock returns when its ctx ends; Unlock then too, or with ErrUnconfirmed when the lease is over,
//     which is within a session timeout. The session goes on deleting the node.
//   - Close cannot tell the servers that the session ends: it returns ErrSessionRemains, and others wait for the locks until
//     the session has expired.
//
// # The kinds
//
//   - Mutex: exclusive, first come, first served.
//   - RWMutex: readers together or one writer; the order of the queue holds for both; a writer may become a
//     reader with nobody in between (Lease.Downgrade), a reader no writer (ErrUpgrade).
//   - Semaphore: a number of permits, of which a lease takes one or more.
//   - Contest: one node, whoever makes it holds, no order; for lock paths that others use like that.
//   - All: several of these as one, in an order in which no two callers wait for each other.
//
// # Who holds
//
// Ownership follows the context, not the goroutine: Lock with the context of a lease, or one derived from it,
// locks within that lease. There the same lock is refused (ErrReentry) unless the lock was made WithReentry;
// then each lease of the hold is given back by itself, and the lock with the last of them.
//
// # Guides
//
// Package guides (locks/guides) is about what a reference does not tell: what a lock cannot do for you, and the fencing
// token that can; what services do with locks; how to choose a session timeout; how to move from Curator, go-zookeeper's Lock, kazoo or etcd; how to run
// against a production ensemble; and what to do when a lock is stuck.
//
// # Glossary
//
//   - lock path: the parent znode of a queue.
//   - contender: one request; contender node: its ephemeral sequential child of the lock path.
//   - GUID: the part of the name that finds our node when a create's reply was lost (ZOOKEEPER-1262).
//   - predecessor: the contender that we wait for.
//   - holder, grant, lease: who has it; the moment; the handle.
//   - suspended, expired: the connection is lost and the lease runs; the session is dead for the server.
//   - fencing token: a number that grows from grant to grant of a lock path: messages.Token.
//   - herd: many woken by one release. Here a release wakes one waiter, and one more session that looks ahead.
//   - revoke, release: ask for it back; give it back.
//   - stale: a reply to a superseded operation.
package locks
