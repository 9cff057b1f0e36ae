// # Running against a production ensemble
//
// Turnstile needs ZooKeeper 3.5 or later; the tested versions are 3.9.5, 3.8.6 and 3.8.0, alone and as
// ensembles of three. Name all servers, and a chroot of the application's:
// "zk1:2181,zk2:2181,zk3:2181/app". The chroot is made where it does not exist. zklock doctor looks
// at each of the servers and says in words what is wrong.
//
// # Who may do what
//
// An ACL is per node, and is not inherited. Two kinds of nodes matter: the lock path, and the
// contenders' nodes below it.
//
//	to do this                     needs
//	lock                           READ, CREATE and DELETE on the lock path
//	use a semaphore for the first time, change its permits    WRITE on the lock path
//	hold a contest                 CREATE and DELETE on its parent, READ of its own node
//	be woken by a predecessor      READ on its node; else the waiter looks again once a session timeout
//	read a queue                   READ on the lock path; of nodes that may not be read, the name is shown
//	ask for a lock back            WRITE on the holder's node
//	break                          DELETE on the lock path, READ on the contender's node
//
// WithAuth brings a credential, WithACL sets the ACL of the contenders' nodes, WithParentACL and
// WithParentACLFunc that of the lock paths that are made. Lock paths that exist keep their list:
// making them beforehand, with an ACL of the operator's, is a way to see to it that nobody else
// makes them. A session that may CREATE and not DELETE ends itself when it has to take a node away,
// because nothing else would. All this is told, user by user, on servers that enforce it, in
// tests/access. WithSASL authenticates with DIGEST-MD5 or Kerberos: see "Ensembles with Kerberos or
// DIGEST-MD5". digest over an open network is readable: use TLS.
//
// # TLS
//
// WithTLS with a tls.Config: the authorities, and a certificate where the servers want one. The
// server is verified by the name in the server list, unless the Config says otherwise
// (tests/access/tls_test.go). zklock and the dashboard take the same from flags.
//
// # Connections
//
// A client has one connection, however many locks it holds. Open one for a process and share it:
// servers count connections by address (maxClientCnxns, 60), and group commit works within a
// session. With a session file there is a second one for a moment at the start. A client may be
// connected to an observer. One fact of these is tested (tests/touches): an observer that loses its
// leader closes its clients' connections. Do not connect a client to one that follows an observer
// master: the leader hears of its clients too late for the lease.
//
// Give all servers the same minSessionTimeout and maxSessionTimeout. A session that moves to a
// server which grants less has the shorter timeout from then on.
//
// An idle client sends a ping every third of a session timeout, and a sync every sixth, so that its
// next lock is granted in one round trip. The syncs reach the leader. WithoutIdleSyncs saves them.
// Use it where ten thousand clients idle, and the first lock after a pause may begin another
// session. Measured with a sync every third, as it was until now, and 10 000 clients and a session
// timeout of 10 s (go -C tests/bench run . -workload idle -sizes 10000 -rounds 1 -patience 10m, and
// with -ensemble):
//
//	                                             with the syncs    without
//	packets a second, of an idle client          0.6               0.3
//	packets a second, of a client that holds     1.5
//	processor time a second, of one server       0.27 s            0.18 s
//	processor time a second, of three together   0.51 s            0.40 s
//
// A client that has lost its connection and holds a lock tries the servers again after 10 ms. It
// tries less and less often, down to 100 times a session timeout, until it is connected or its
// lease has ended. That is some 45 times each server, and 95 at most (zkconn.Conn.Urgent). 1 000
// such clients with a session timeout of 10 s are 10 000 attempts a second at each server that
// refuses them. Clients that hold nothing, and all others, wait from 50 ms up to 5 s between
// attempts (WithReconnectBackoff).
//
// # Sizes
//
// jute.maxbuffer bounds what a server reads, 1 MiB unless told otherwise. Transactions of locks
// stay far below, but for one: when a session ends, the servers delete all of its ephemeral nodes
// in one transaction. It has four bytes and the whole path of each. Where it is too large, all
// servers fail, and do not start again ("Unreasonable length"; ZOOKEEPER-4306, in 3.8.0 as in
// 3.9.5). So the nodes of a client weigh 512 KiB at most: some 5 000 locks with paths of 40
// characters, or 2 000 with paths of 200. Then Lock returns ErrSessionFull, for which MayPass is
// true; a waiter whose queue has a node of its client waits inside it. Of one queue a client has no
// more than 256 nodes that wait, whatever they weigh.
//
// With more locks in one process:
//
//   - Open several clients, each with a session of its own.
//   - Or raise jute.maxbuffer at every server, and WithMaxNodeBytes to half of it. Servers first.
//   - -Dzookeeper.closeSessionTxn.enabled=false at every server keeps the nodes out of that
//     transaction. Servers without it, and programs with other libraries, keep their danger.
//
// To start an ensemble again that such a session has brought down (tests/crowd does it):
//
//   - Stop all servers. Set jute.maxbuffer at each to several times the length that they log.
//     closeSessionTxn.enabled=false does not help any more: the transaction is in their logs.
//   - Start all of them.
//   - A server that still fails, with "CRC check failed", was stopped while it wrote the transaction. Start it
//     with an empty data folder, while a majority of the others runs.
//   - Keep the setting until zkCleanup.sh has removed the logs that hold the transaction. Without
//     it, a server that reads them fails at its next start.
//
// A server whose bound is smaller hangs up on a larger request, each time. The request then pauses,
// and its error names the operation. A listing of a lock path is an answer of some 60
// bytes for each contender, and answers above 64 MiB are refused here. With more than a million
// contenders in one lock path the connection is lost again and again, for all locks of the session.
// Java's clients refuse answers above 1 MiB by default (jute.maxbuffer on their side): where
// Curator shares a queue, some 17 000 contenders are the limit. Labels are at most 1 024 bytes.
//
// # Lock paths that come and go
//
// Lock paths, and the nodes above them, are made as container nodes. The servers delete them when
// their last child has gone, about a minute later (znode.container.checkIntervalMs). Numbers of
// nodes then start at zero again; tokens do not (tests/actors/lock_path_test.go). Nodes that were
// made otherwise stay. Data that are kept in a container go with it.
//
// ZooKeeper numbers the children of a node with 31 bits, and at the end of them it hands out the
// same number again and again. Turnstile refuses a lock path whose numbers have come near that
// (2^31 − 2^20), rather than let two in. At 1 000 locks a second without a minute's pause that is
// after 24 days, at 50 000 after twelve hours. Delete the path when nobody uses it, or spread the
// work over several lock paths; zklock queue shows the numbers (NO). Or lock WithSticky: reusing a
// node takes no number.
//
// # Sticky locks
//
// WithSticky is for clients that lock the same few locks over and over, mostly alone. The lock
// stays with the client for a while after Unlock, and locking it again is a matter of this process
// alone: a microsecond, and no request. The client watches the node and the queue behind it. A lock
// that rested for a sixth of the session timeout is checked first: a transaction, because nothing less
// proves that an operator has not deleted the node and somebody else holds.
//
// In return the first contender from another client waits until the node has gone, for a listing
// and a delete more. TryLock finds the lock taken at first. Where processes take turns it gains
// nothing. A client keeps 1 024 such locks at most; each has a watch on its lock path. They go
// when somebody comes, when their time is over, and with the session. They outlive a lost connection:
// the client looks again who has come meanwhile (tests/kinds/sticky_test.go).
//
// # Quotas and throttling
//
// A quota of a lock path (zookeeper.enforceQuota, countHardLimit) counts contenders, waiters
// too. Lock returns ErrQuota at once where it is reached. The error may pass, so Election.Run
// goes on. Throttled requests (zookeeper.throttled_op_wait_time) are not executed, and are sent
// again after pauses until ctx ends. Package zkconn has a table of all that servers answer with.
//
// # Watching it
//
//   - zklock tree and zklock queue, or the dashboard: how many hold and wait, since when.
//   - zklock graph exits with 1 where there is a deadlock: for a cron job.
//   - The servers' own figures (mntr). zk_outstanding_requests should be near zero. zk_avg_latency
//     and fsync times: a lock costs a commit to disk. zk_watch_count grows with holders, with
//     waiters whose predecessor is in another session, with retained nodes, and with lock paths
//     that a client locks over and over, alone. zk_ephemerals_count counts contenders and retained
//     nodes.
//   - The servers' logs: "Digests are not matching" says that servers of one ensemble have come to
//     differ. 3.8.0 does that now and then when networks are cut and leaders change, 3.9.5 less
//     often. No lock can hold on such an ensemble: take the server that differs out, delete its
//     data, and let it copy the others'.
//   - Session.Counters: Polls counts waiters that found by looking again, a session timeout later,
//     a change of which no watch had told them. The lock was theirs, or the contender before them was gone. It
//     should be zero. Where it grows, waiters may not READ the node before theirs, or a server loses
//     watches. A warning names the first lock path, also where no logger is set. Unowned counts
//     nodes of the session that it had deleted, that servers have brought back, and that it has
//     removed. It grows where servers are restored from a backup. Untold counts log records,
//     figures and ends of spans that were dropped, because a handler was stuck or too slow.
//   - turnstile.session.weight and turnstile.session.inside, or Client.State: how much of 512 KiB
//     the client's nodes weigh, and how many requests wait inside it.
//   - WithMeterProvider and WithTracerProvider: waits, holds, hand-offs, losses and recoveries by
//     cause, the rest of the lease, as OpenTelemetry figures and spans. actors/metering lists
//     them. In examples/metrics are a dashboard for Grafana (grafana-dashboard.json) and rules for
//     Prometheus (alerts.yml).
//   - Client.Ready for readiness probes: nil through a restart of a server, and an error that says
//     since when and why where nothing can be renewed. It fails, too, where servers hang up on
//     requests or put them off, and carry out none. Election.Health for liveness probes of a
//     leader: it fails where the leader's lease is over and its function still runs. Client.State
//     says more.
//   - WithOnChange: each lease that is in doubt, for how long still, that goes on, is asked for, or
//     is lost.
//   - WithUnreleased: leases that were never given back, with the stack of their Lock.
//   - WithLogger. At level warn: locks that are lost, connections that are lost, sessions that
//     expire, heartbeats that are not answered. Also nodes that could not be deleted yet, servers
//     that are not reached, sessions that Close could not end. At level error: causes that end a session.
//     At level debug: each step of each request, with path, node, state, session and token. Package
//     zkconn/logkeys has the keys.
//
// Close on the way out, and look at its error. A link that is cut at that moment makes it
// ErrSessionRemains: others then wait for the client's locks until the session has expired.
//
// # The servers
//
// Three or five members on machines that do not fail together, of ZooKeeper 3.9.5 or 3.8.6. Never
// run 3.9.3, which loses data (ZOOKEEPER-4925). Before 3.8.5 and 3.9.2 servers of an ensemble come
// to differ more often (ZOOKEEPER-4785). ClickHouse Keeper allows no lease. zklock doctor says so of the
// servers that it meets.
//
//   - The transaction log on a disk of its own: every lock waits for its fsync.
//   - Heaps that are never swapped: a server that pauses for 0.4 of the session timeout takes the
//     locks of its clients with it.
//   - A tick that is not above half of the shortest session timeout. minSessionTimeout sees to it
//     by itself, unless it is set.
//
// Restart members one at a time, the leader last. Restoring a backup makes the numbers of tokens
// begin again at older ones: see "Fencing". Keep wiped or restored servers down for a session
// timeout T. After the restore command of 3.9's admin server, restart each server when all clients'
// leases are over. LIMITS says why.
package guides
