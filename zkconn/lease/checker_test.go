// Package lease_test has a model checker for the lease rule. It runs the real code of package
// lease on a model of the servers. In every state it asks: is the lease valid while the leader
// has removed the session? There is no code in it but tests.
//
// # What runs, and what is a model
//
// The chain is the real one. It is fed as zkconn feeds it: each connect request, each packet with
// its ping in front after a silence, each answer with its verdict. The lease is Chain.Lease as of
// the last call, and never one of a broken chain.
//
// The model (world_test.go) has three members: the first leader, a follower, and a member that an
// election makes the leader. The names are ZooKeeper's classes, read in 3.9.5:
//
//   - SessionTrackerImpl.run: the tracker takes a session that is due off its queue, at any moment
//     from then on, and removes it at any moment after that. A touch in between changes nothing,
//     the session looks alive, and transactions commit.
//   - ExpiryQueue.update: a touch sets the expiry to the timeout of its connection from then, also
//     to an earlier time.
//   - Leader.lead: pings each half tick, of a quarter of the shortest timeout that a member grants,
//     and up to T/24 late.
//   - LearnerHandler: requests, answers to pings and REVALIDATE come up one stream in order.
//     Commits, pings and answers to syncs go down another.
//   - LearnerSessionTracker: the follower notes each packet in its touch table, and tells the table
//     in its answer to a ping. A swap of the table may lose one put that comes at the same time.
//   - A leader's own clients are touched by each packet (ZooKeeperServer.submitRequestNow).
//   - A connect request is a touch at the leader (Leader.revalidateSession), whenever it comes
//     there.
//   - An election begins the session anew, with the timeout of its creation. The old leader goes on
//     for as long as it likes. It answers syncs and pings. It commits nothing, and after the first
//     transaction that waits for a quorum it answers nothing more.
//   - A server that leaves its leader closes its clients' connections (Learner.shutdown,
//     Leader.shutdown). Answers that were sent before may come later.
//   - A refused transaction of a removed session is answered. A sync of one is answered as of any
//     other, because Leader.processSync does not look at the session.
//
// Any stream may stall, let messages pass one by one, and heal. Messages that are not
// stalled are delivered before time goes on. The client's clock may stand still, until it is T/10
// behind. Another client may end the session: then its lease may last until the timeout from there,
// and no longer.
//
// # What is assumed, or coarser than reality
//
//   - The expiry is not rounded up to a tick: the worst that rounding can do is nothing.
//   - A transaction is committed when the leader handles it. Its answer may come at any later time.
//   - The shortest timeout of all servers is known to the client from the start. Where it is not, a
//     lost answer to a connect request may have shortened the session unseen.
//   - One swap loses at most one touch. A swap that loses two breaks the rule, as a test shows.
//   - The client's clock stands still once, until it is at most T/10 behind, or not at all. With
//     one unit more a lease is valid beside a removed session, as a seeded mistake shows. It never
//     goes faster, and never back: package lease requires that of its caller.
//   - No observer masters, no restored servers.
//
// # How it explores
//
// Walks (explore_test.go, walk) go through every history of a plan, breadth first. A plan counts
// what need not happen. Its bounds are small: up to three requests, two connections, two stalls.
// T is 24 to 96 units of time, and states are told apart by 128 bits.
//
// Random histories (play) have up to sixteen requests, four stalls, three connections, and an
// election, over three session timeouts. A seed replays to the same history.
//
// Mistakes are seeded into package lease, into what feeds it, and into the premises
// (seeded_test.go). One that is not found fails the test.
//
// TestPace measures which round trips the keepalive can bear.
//
//	go test ./zkconn/lease                                             the small plans
//	TURNSTILE_LEASE_WALK=long go test -v -timeout 2h ./zkconn/lease    the large ones
//	go test -tags mistakes -v -run Finds ./zkconn/lease                mistakes in the source
package lease_test
