// Soak subjects locks to an ensemble that keeps failing, for as long as one likes, and judges what
// came of it.
//
//	go -C tests/soak run . -duration 1h -v                          # Turnstile
//	go -C tests/soak run . -duration 1h -peer zklock                # go-zookeeper's zk.Lock, the same faults
//	go -C tests/soak run . -duration 1h -peer curator               # Curator's InterProcessMutex, likewise
//	go -C tests/soak run . -duration 10s -faults none -wipes 10     # wipes alone
//	make soak-mistakes                                           # mistakes in the code, that the soak must find
//
// It needs what package rig needs, and Curator what package interop needs. Everything is on loopback, and ends with
// the controller. An interrupt ends a run early, in order. Histories go where -history says. When something is found
// that must not be, the ends of all logs are kept there too, or in a temporary folder, which is then named.
//
// # Who does what
//
// The controller starts an ensemble of real servers whose links can be broken one direction at a
// time, a proxy for every client and server, and the clients. These are processes of this same
// program with -role client. Each has workers that lock, write to a fenced resource while they
// hold, and unlock. The resources and the judge are in the controller; nothing that is judged takes
// part in judging.
//
// Busy clients ask for their locks all the time. Calm clients pause between requests, so their
// sessions are idle at times and their locks are free. A lock is then granted by the reply to a
// create, which a stall is meant to hit. Of Turnstile's busy locks some are read/write locks and
// semaphores, and some are held in cohorts. Every second calm lock is sticky. The other peers have
// mutexes only (kinds.go).
//
// # What is broken
//
// The controller breaks things by schedules that are drawn from -seed, at most one fault of each at
// a time. In each schedule every kind of fault happens once before any happens again.
//
//   - Of the ensemble: members, the leader among them, are killed, paused with SIGSTOP, cut off, or
//     nothing passes between them and the others. The leader is killed while it is paused; there is
//     no majority. One direction of the link between the leader and a follower stalls, for up to 3
//     T, or is slow. A calm client asks for locks behind such a stall, and the others for the same
//     ones. The link is healed as soon as one of those has overtaken it. A follower dies as soon as
//     one of its clients has been granted a lock; its frames were held up before that.
//   - Of a client: its connections are cut, its network is down, replies are lost, one direction
//     stalls or both are slow, its process is paused or killed. It moves between members, which
//     allow different session timeouts: 0.4, 1 and 2 times that which clients ask for. Its frames
//     are held up around requests for locks.
//   - Of sessions: some hundreds of others expire at one instant at a leader whose log is slow. Some
//     clients fall silent with them, and come back from 0.8 to 1.6 T later, while the leader ends
//     them one by one (faults_masses.go).
//   - Of requests: for a while they are throttled, that is, answered with ThrottledOp and not carried
//     out. Or the connection is closed at a create, a multi or the create of a container, several
//     times in a row (faults_refusals.go). The proxies do both in place of the servers.
//   - By an operator, of Turnstile's sticky locks: the node of a holder, or a retained node, is
//     deleted. In half of the cases the client hears of it late.
//   - At the end of a run of Turnstile, when all else is repaired, the data of all servers are wiped,
//     and restored from a backup, in turn, -wipes times (wipes.go).
//
// T is the session timeout that clients ask for, -session.
//
// # What is judged
//
// Times are instants of the machine's monotonic clock, which all processes share. A worker reports
// what it knows for certain: a lease is looked at every 2 ms, and was valid at an instant that was read before
// the look. A lease that ran out while its process stood still was valid until the deadline that was read
// last.
//
//   - double holders: two intervals of certainly valid leases of one lock overlap, or too many permits of a
//     semaphore do. Every pair is compared, and is counted once; the longest overlap is measured.
//   - wrong after a retained node was deleted: double holders, tokens out of order, or a valid
//     holder that was refused. It counts for a grant of a retained node that an operator had
//     deleted before. The like after an operator's delete of a held node is counted apart, and need
//     not be zero: custody.go says how the two are told from each other.
//   - tokens out of order: a grant whose lease is valid has no greater token than one before it.
//   - valid holders refused: the resource refused a write for its token, and the lease was valid after
//     that.
//   - orphans: a node that is still there when no request is under way, and the sessions of clients that
//     were killed have had the time to expire. Every few minutes all faults are repaired and all requests
//     end, to look for them. Nodes that may be those of requests that never ended are not counted.
//   - requests that never ended: a call of Lock or Unlock did not return within its context and a
//     generous grace. Time in which its process was stopped does not count. Or a process did not
//     end when it was told to.
//   - requests that failed: a Lock of Turnstile returned an error, though its caller had not given up.
//   - clients that were not back after a wipe: one was not granted a lock within T + 2 s of the
//     servers' return. Where members allow different timeouts, T is the longest.
//   - wake-ups that only the poll replaced: a lock was free and waited for, nothing had been broken for a while, and
//     only the slow poll found out, late (calm.go). Only Turnstile tells.
//   - histories not linearizable: see history.go.
//   - figures that grow: what clients have when no request is under way, from look to look, and watches that stay at the
//     servers then (rest.go). Only Turnstile's clients count.
//   - stale commits, and commits of which the wrong thing was told. Holders of Turnstile's
//     exclusive locks write to ZooKeeper by transactions under their leases, and once more after
//     they have lost them. Package journal says what there may be then: no entry of a holder behind
//     one of a later holder, and what was told, once.
//
// A wipe is judged apart. No lock can hold then: the servers have forgotten who holds, and tokens
// begin again. So double holders, tokens out of order and writes that were refused are counted in
// lines of their own in the spell around a wipe. It begins and ends at a moment at which no request
// is under way. Then the resources and journals begin anew, and all is judged as before.
//
// The soak is tested, too. mistakes_test.go builds it with mistakes in the library, which package
// mistakes describes, and each has to be found within five minutes:
//
//   - a lease of three session timeouts, by double holders;
//   - a wake-up that is lost, by polls;
//   - a create of unknown outcome that nobody resolves, by orphans;
//   - proofs of a lease that count however late they come, by double holders after sessions have
//     expired in masses;
//   - a request that fails because it was throttled, by requests that failed;
//   - a pause without end after hang-ups, by orphans;
//   - a session that is never given up, by clients that were not back after a wipe.
//
// Servers themselves may come to differ, by bugs of theirs: see replicas.go. The soak then goes on with a new
// ensemble, and what was found in between is counted apart, for it says nothing of the library.
//
// A member that was killed may not come back, for it hangs in an election or its data are broken.
// It is started again up to three times, within 30 s each, and its log and its threads are printed.
// After that the soak goes on with a new ensemble. The result counts the ensembles that could not
// be repaired.
//
// Any of them makes the exit status 1 for Turnstile. Writes that come late, after the lease has
// ended, are no error. Workers write on purpose with a delay after they looked at their lease, and
// once more after they have lost it. The fence is there to refuse them, and the refused ones are
// counted.
package main
