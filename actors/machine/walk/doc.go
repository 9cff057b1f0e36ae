// Package walk is an exhaustive walk of the machine: a small explicit-state model checker. It puts up to
// three lock requests, each a machine.Machine, on one or two sessions over a model of ZooKeeper, and
// explores every order in which requests, answers, events, losses, expiries, commands and stops can
// come, up to the bounds of a [Plan]. In every state that it reaches it checks the invariants ([Invariant]);
// of a violation it tells the shortest story.
//
// # The model
//
// The requests decide with the real machine; nothing of it is copied. Around it stands a model of the
// shells, function by function: lock_actor.go mirrors actors/lock.go; session_actor.go mirrors session.go,
// connection.go and heartbeat.go; creating.go, deleting.go (with contenders.go), listing.go, verifying.go,
// watching.go (with vigil.go), local.go, ahead.go and resting.go (with reusing.go) mirror the files of those names or
// nearly so;
// together.go stands for batching.go, as far as it shows. Who changes one of them changes its mirror. The fast paths
// can be switched off as in the code ([Switches]), and plans are walked with each of them off.
// Answers come in any order, as goroutines bring them; events of a connection come in theirs, and before
// the answers that follow them on the wire. The outcome of a request that was lost with its connection may
// come before the news of the loss, or long after. A request that was not sent when the connection went
// waits for the next one, or fails.
//
// The servers (server.go) are one lock path with its nodes, their owners, the watches of each connection,
// the sequence counter and the transaction number of the newest create. The end of a session takes two
// steps, as in ZooKeeper: it is refused first, and its nodes are deleted later (CURATOR-604). A
// connection may come back to a server that lags and does not show the newest nodes until a sync.
//
// There is no clock. A lease is valid from an acknowledged transaction on until it runs out, which may be
// at any moment. The one thing taken for granted is what the lease clock is calculated for:
// the servers do not end a session before its lease is over, and an acknowledgement that comes after
// that renews nothing. Whether 0.4 of a timeout keeps that promise is for other tests.
//
// # What is left out, or coarser than the code
//
//   - Heartbeats are one move, made only where they would tell something.
//   - A look for our nodes (sync, list, exists) is one step, and deletes what there is too much; the
//     heartbeat after it is another. Making a missing lock path is part of the create.
//   - At a loss of the connection, all answers on the wire are lost or none, and all requests not yet
//     carried out wait or none. Since each may come before the loss, little is missed.
//   - A lease that runs out is told at once; the news may stay unread as long as they like.
//   - The kinds of lock are exclusive, read and write without downgrades, and contests. Semaphores and reentry are left to
//     the simulation and the matrix of tests.
//   - No ACLs, so that nothing is refused; no data in nodes, so that nobody asks for the lock by writing
//     there; no exhausted counter, no foreign contenders. One connection, one lock path.
//   - A lagging server lacks nodes that were made; it never shows one that was deleted. Such a view is also
//     that of an earlier listing, which is explored.
//   - An operator who deletes a holder's node takes its lock away before it can know: mutual exclusion,
//     tokens and order are not asked of a request whose node he has deleted. They are of one that reuses a node which
//     he had deleted before the servers found it for that request. What tells a session of such a delete is the watch on
//     the children and the heartbeat; the watch on the node itself is left out.
//   - A lock actor lets no more than five messages gather before it reads one.
//   - Creates share a transaction, with places of their own; deletes do not. A lock path whose length is not known with
//     the create is listed after it, not at the same time.
//   - Who holds reads its node at once. A node that rests goes when its time is over, which may be at any moment but
//     is not counted on to let others in. All requests of a session may use each other's nodes.
//   - Orders are taken as they are sent, and in a prompt plan answers and mail are read as they come, but
//     for as many exceptions as Late and Slow allow.
//
// # States
//
// A state is some thousand bytes without pointers. States that behave alike are made equal: operations
// are named current or stale, what can have no effect is dropped. Those that were reached are kept as 128
// bits each, with the move that led there first, from which the stories are told. The walk is breadth
// first; when it is done, it goes backwards from the states in which all is over, to see that every state
// leads to one by what goes on by itself and by releases alone.
//
// # How to run it
//
//	go test ./actors/machine/walk                                          the small bounds
//	TURNSTILE_WALK=long go test -v -timeout 1h ./actors/machine/walk       the large ones besides
//
// The small bounds are 1.2 million states and take half a minute; the large ones are some 30 million states, and take
// ten minutes and 2.5 GiB on two processors.
//
// The mistakes of [Mistake] are seeded into the model or before the machine, and each must be found: that
// is the test of the checker.
package walk
