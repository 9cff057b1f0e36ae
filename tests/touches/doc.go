// Package touches checks on real servers the assumptions of the lease rule: when a leader touches a
// session, which keeps the session alive. It has tests only.
//
//	TestRequestsDoNotTouch              a forwarded request, committed, touches nothing
//	TestAnsweredPingsTouch              the answer to a leader's ping does; it names the session
//	TestPingsGoEveryHalfTick            the leader pings a follower every half tick
//	TestRevalidationTouches             a reconnect does, and the session lives a timeout from there
//	TestPingIsAnsweredBeforeRequests    a ping between two answers is answered, with the session in
//	                                    it, before a request that comes after them is forwarded
//	TestNewLeaderGoesByTheFirstTimeout  a new leader starts a session with the timeout of its creation
//	TestShorterTimeoutMovesTheExpiry    a reconnect that is granted less moves the expiry to earlier
//	TestServerThatWasLeftTouches        so does an answer of the server that the client has left
//
// All replies on one connection come from one leader:
//
//	TestServerThatLeavesItsLeaderClosesConnections   a follower, an observer and a leader without a
//	                                    quorum close their clients' connections, with no reply of a
//	                                    later leader before
//
// Of requests that were sent before the session moved, nothing is proved:
//
//	TestRequestsOutliveAMove            one that was sent to the server before may be carried out after
//	                                    the session has committed at the next
//
// The basis of a token:
//
//	TestHeaderHasTheCzxid               the zxid in the header of a create's reply is the czxid of the new node
//
// In ZooKeeper's source, 3.8.0, 3.8.6 and 3.9.5: LearnerHandler.run (PING, REVALIDATE, REQUEST),
// LeaderZooKeeperServer.submitLearnerRequest, Learner.ping,
// LearnerSessionTracker.snapshot, Leader.lead, Leader.revalidateSession,
// PrepRequestProcessor.pRequest, ZooKeeperServer.processConnectRequest, SessionTrackerImpl,
// ExpiryQueue.update, Learner.shutdown and Leader.shutdown.
package touches
