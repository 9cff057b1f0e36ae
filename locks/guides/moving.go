// # Moving from Curator, zk.Lock or etcd
//
// From Curator and go-zookeeper you can move one program at a time: their locks and Turnstile's
// share one queue. So do kazoo's, with its names (WithNaming) or with a pattern on its side. etcd's
// and Consul's queues are elsewhere; the last section says how to move from them.
//
// # Words from elsewhere
//
//	what you look for                             here
//	lock lost? how does a holder learn it?        <-lease.Context().Done(), before others can hold; work takes that context
//	a stop channel, as Consul's and etcd's        lease.Context().Done()
//	keepalive, extend, refresh, renew, watchdog   nothing to do: the session renews every lease by itself
//	a TTL, how long a crashed holder is waited for  WithSessionTimeout: 10 s, say ("Choosing a session timeout")
//	lockAtMostFor (ShedLock)                      not needed against crashes; WithMaxHold against a job that hangs
//	lockAtLeastFor (ShedLock)                     RunOnceFor: once for each instant; RunOnce: once in a period
//	Locker: Lock(ctx, key), Unlock(ctx, key)      client.Keyed(root): any string is a key
//	reentrant, recursive                          WithReentry: by context, not by goroutine
//	TryLock, tryLock(0), NX                       TryLock(ctx)
//	a bounded queue, MaxWaiting, back-pressure    WithMaxWaiters: Lock returns ErrQueueFull instead of waiting behind so many
//	LeaderLatch, LeaderSelector, OnStartedLeading  Election.Campaign, Election.Run
//	OnStoppedLeading, OnNewLeader                 what Run's function does when its ctx has ended; Election.Observe
//	an owner value or UUID for a safe unlock      none: a lease gives back itself and nothing else
//	a lock in a database transaction              lease.Txn for data in ZooKeeper; otherwise the token in a column
//
// # From Curator
//
//	Curator (Java)                                       Turnstile
//	CuratorFrameworkFactory.newClient, start             locks.Open
//	namespace                                            a chroot at the end of the server list
//	new InterProcessMutex(client, "/p")                  client.Mutex("/p")
//	acquire(), acquire(10, SECONDS)                      Lock(ctx), with a deadline in ctx
//	acquire(0, SECONDS)                                  TryLock(ctx)
//	release()                                            lease.Unlock(ctx); locks.Do does all of it
//	isAcquiredInThisProcess()                            lease.Valid(), of the lease that one has
//	makeRevocable(listener)                              <-lease.Revoked(), or WithGrace
//	Revoker.attemptRevoke(client, path)                  client.Revoke(ctx, "/p")
//	getParticipantNodes()                                client.Queue(ctx, "/p"), with who, since when, for whom
//	InterProcessReadWriteLock                            client.RWMutex("/p")
//	writeLock held, readLock acquired, writeLock released  lease.Downgrade(ctx)
//	InterProcessSemaphoreV2(client, "/p", n)             client.Semaphore("/p", n)
//	acquire(k)                                           Acquire(ctx, k): as one, not lease by lease
//	InterProcessMultiLock                                locks.All
//	LeaderLatch: start, await, close                     client.Election("/p"): Campaign(ctx, value), leadership.Resign(ctx)
//	LeaderLatch: hasLeadership, getLeader                lease.Valid or IsLeader, Leader(ctx)
//	LeaderSelector: takeLeadership, autoRequeue          Election.Run(ctx, value, lead): it stands again until ctx ends
//	ConnectionStateListener: SUSPENDED, LOST             lease.Context(), WithOnChange, client.State
//	a transaction with a check of the lock (CURATOR-689)  lease.Txn
//
// Differences in meaning:
//
//   - Reentry. Curator's mutex belongs to a thread, and the thread may take it again. Here the hold
//     belongs to a context: Lock(lease.Context()) is within the lease. It is refused, unless the
//     lock was made WithReentry.
//   - Loss. Curator tells a listener of the client that the connection is SUSPENDED, and LOST a
//     whole session timeout later. The listener has to know what that means for the lock. Here the
//     lease ends, after some 0.4 session timeouts, and stays ended.
//   - Downgrade. Curator before 5.5 lets a writer that already waits in beside the reader.
//     Downgrade does not, but a waiting writer of such a Curator in the same queue goes by
//     Curator's rules.
//   - Persistent locks, barriers, queues, caches, shared counters: Turnstile does not have them.
//   - Semaphores have nodes of their own kind and share no queue with Curator's.
//
// # From go-zookeeper's Lock
//
//	zk.Lock                                  Turnstile
//	zk.Connect(servers, timeout)             locks.Open
//	zk.NewLock(conn, "/p", acl)              client.Mutex("/p"), WithACL
//	Lock()                                   Lock(ctx): it can be given up, and gives a lease
//	LockWithData(data)                       WithLabel: a text for people
//	Unlock()                                 lease.Unlock(ctx)
//	zk.ErrDeadlock, of one value used twice  none: a Mutex has no state, each call queues for itself
//	a lock kept for good, and a flag for it  Election.Run and IsLeader; for a cron, RunOnceFor and no flag
//	StateHasSession, StateExpired            nothing to do: waiters queue again; client.Ready and State tell
//
// Differences in meaning:
//
//   - zk.Lock tells nobody that the lock was lost.
//   - A reply that was lost may leave a node that blocks the queue. The soak finds such nodes
//     (tests/soak with -peer zklock).
//   - It fails on children that are no contenders (TestZkLockFailsOnStrangers in tests/interop).
//     Turnstile passes over those. But as long as a zk.Lock is in the same queue, its faults are in
//     the queue too.
//   - Unlock returns when the delete is known to have been done, through losses of the connection.
//     It returns no later than the end of the lease (ErrUnconfirmed). Give it a context that
//     outlives the work.
//
// # From kazoo
//
//	kazoo (Python)                               Turnstile
//	KazooClient(hosts), start()                  locks.Open
//	chroot at the end of hosts                   likewise
//	client.Lock("/p", identifier)                client.Mutex("/p", locks.WithLabel(identifier))
//	acquire(), acquire(blocking=False)           Lock(ctx), TryLock(ctx)
//	acquire(timeout=10)                          Lock(ctx), with a deadline in ctx
//	with client.Lock("/p"):                      locks.Do(ctx, client.Mutex("/p"), work)
//	contenders()                                 client.Queue(ctx, "/p")
//	ReadLock, WriteLock                          client.RWMutex("/p"): RLock, Lock
//	Semaphore("/p", max_leases=n)                client.Semaphore("/p", n): the nodes are not shared
//	Election("/p").run(f)                        client.Election("/p").Run(ctx, value, lead)
//	Party                                        client.Group
//	a listener: SUSPENDED, LOST                  lease.Context(), WithOnChange
//
// By itself kazoo looks at no names but its own, and walks in on others. Change one side while both
// run. Turnstile takes kazoo's names, and kazoo's programs stay as they are:
//
//	mutex := client.Mutex("/p", locks.WithNaming(messages.KazooNaming))
//
// Or kazoo 2.8 and later is told to look at the others' names, and Turnstile stays as it is:
//
//	lock = client.Lock("/p", extra_lock_patterns=["-lock-"])
//
// Take the first where Curator is not on the path. Which of kazoo's locks share a queue with which
// others is in the table of tests/interop, with the test that shows it.
//
// # From etcd's package concurrency
//
//	etcd                                         Turnstile
//	clientv3.New, concurrency.NewSession(WithTTL)  locks.Open(WithSessionTimeout): the session is kept, and renewed
//	concurrency.NewMutex(session, "/p")          client.Mutex("/p")
//	Lock(ctx), TryLock(ctx)                      Lock(ctx), TryLock(ctx)
//	concurrency.ErrLocked                        locks.ErrNotAcquired
//	Unlock(ctx)                                  lease.Unlock(ctx)
//	m.Header().Revision                          lease.Token()
//	clientv3.Compare by m.IsOwner() in a Txn     lease.Txn, for data in ZooKeeper; a token that the resource compares otherwise
//	<-session.Done()                             <-lease.Context().Done()
//	concurrency.NewElection(session, "/p")       client.Election("/p"): Campaign, Leader, Observe, Resign, too
//	a loop of NewSession, Campaign and Done      Election.Run, the whole of it
//	concurrency.WithLease(id), after a restart   WithSessionFile, which ends the old session instead of going on with it
//
// Differences in meaning: two mutexes of one etcd session and one prefix have one key, so the
// second is let in. Here the second waits, also within one session. A session here is followed by
// another when it expires, and waiters queue again by themselves. Session timeouts are bounded by
// the servers' ticks (see "Choosing a session timeout").
//
// # Changing over when the queue cannot be shared
//
// Take both locks for a while, always in the same order: the old one, and within it the new one.
// When every running program takes both, leave the old one out, program by program: all of them
// hold the new one. No two are inside at any time in between. It works for Redis, Consul, a
// database's advisory locks, or files too. Give them back in the reverse order. Switch the
// resource's fence to the new lock's tokens while both are held.
//
// With kazoo's own names and Curator in the same place no library can help: neither sees the
// other's nodes (TestCuratorAndKazooNamesDoNotKeepOut). Move to a new lock path in the same way.
package guides
