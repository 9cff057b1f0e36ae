// Soak subjects locks to an ensemble that keeps failing, for as long as one likes, and judges what
// came of it.
//
//	go -C tests/soak run . -duration 1h -v
//	make soak-mistakes                       # mistakes in the code, that the soak must find
//
// It needs what package rig needs. Everything is on loopback, and ends with the controller. An interrupt ends a run early,
// in order. When something is found that must not be, the ends of all logs are kept where -evidence says, or in a
// temporary folder, which is then named.
//
// # Who does what
//
// The controller starts an ensemble of three real servers whose links can be broken one direction at a
// time, a proxy for every client and server, and the clients. These are processes of this same
// program. Each has workers that lock, write to a fenced resource while they
// hold, and unlock. The resources and the judge are in the controller; nothing that is judged takes
// part in judging.
//
// Busy clients ask for their locks all the time. Calm clients pause between requests, so their
// sessions are idle at times and their locks are free. A lock is then granted by the reply to a
// create, which a stall is meant to hit. Some of the busy locks are read/write locks and
// semaphores, and some are held in cohorts. Every second calm lock is sticky. In one client of
// four the calls share what they can; in the others each has a hold of its own.
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
//     them one by one.
//
// T is the session timeout that clients ask for, -session. Servers that throttle or hang up, nodes that an operator
// deletes, data that are wiped or restored, and transactions under leases have suites of their own: refusals, simulation,
// restarts and txn.
//
// # What is judged
//
// Times are instants of the machine's monotonic clock, which all processes share. A worker reports
// what it knows for certain: a lease is looked at every 2 ms, and was valid at an instant that was read before
// the look. A lease that ran out while its process stood still was valid until the deadline that was read
// last.
//
//   - double holders: two intervals of certainly valid leases of one lock overlap, or too many permits of a
//     semaphore do; or a lease was valid after a grant with a greater token had been returned.
//   - tokens out of order: a grant has a greater token than one that was asked for after it had been returned, or than one
//     that came later, where both were valid.
//   - valid holders refused: the resource refused a write for its token, and the lease was valid after
//     that.
//   - orphans: a node that is still there when no request is under way, and the sessions of clients that
//     were killed have had the time to expire. Every few minutes all faults are repaired and all requests
//     end, to look for them.
//   - requests that never ended: they are under way long after all faults are repaired and their contexts have ended. Or a
//     process did not end when it was told to.
//   - requests that failed: a Lock returned an error, though its caller had not given up.
//   - wake-ups that only the poll replaced: nothing had been broken for a while, and a waiter found out by listing the queue
//     again what no event had told it.
//   - figures that grow: what clients have when no request is under way, from look to look (growth.go).
//
// Every pair of holds of one lock is compared. The calls of a lock with fencing are linearizable, in the order of the tokens,
// exactly if no pair is wrong: each acquire ends before the next begins, and all bounds are bounds of two. So no history is
// searched.
//
// mistakes_test.go builds the soak with mistakes in the library, which package
// mistakes describes, and each has to be found within five minutes:
//
//   - a lease of three session timeouts, by double holders;
//   - a wake-up that is lost, by polls;
//   - a create of unknown outcome that nobody resolves, by orphans;
//   - proofs of a lease that count however late they come, by double holders after sessions have
//     expired in masses.
//
// Servers themselves may come to differ, by bugs of theirs, and a member that was killed may not come back, for it hangs in an
// election or its data are broken. Then the soak goes on with a new ensemble. The result counts both. What was found since
// servers differed is counted apart, for it says nothing of the library.
//
// Anything that is found makes the exit status 1. Writes that come late, after the lease has
// ended, are no error. Workers write on purpose with a delay after they looked at their lease, and
// once more after they have lost it. The fence is there to refuse them, and the refused ones are
// counted.
package main
