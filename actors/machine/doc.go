// Package machine is the state machine of one lock request. It is pure: no clock, no I/O, no
// goroutine, no actor. A lock actor turns messages into events, calls [Machine.Step], and carries
// out the effects; no other code moves a request from state to state. [ListedEvent] tells it what
// package queue says of the queue.
//
// The machine is one table of rows {From, On, If, To, Do}: see [Rows]. A row fires when the machine
// is in From, the event is On, and the guard If holds. Rows of one pair of state and event are
// tried in order, and the last has no guard. Every pair has a row or is impossible ([Possible]): a
// bug, with the effect Halt: the actor stops, and the session removes the node.
//
// # Operations and stale replies
//
// Requests that the machine asks for carry the number of the operation. A reply or a timer with
// another number than the current one is stale: Step drops it, so leaving a state voids everything
// that was under way there. Events with number zero (commands, and events of the session) are never
// stale.
//
// # What the session promises
//
//   - Expired comes only after Disconnected, or to a request that asked for its node while the
//     connection was down.
//   - Connected comes only to such a request, or to one that was told Disconnected, and before any
//     answer to orders that came meanwhile.
//   - Orders of an epoch that is over are dropped without an answer: Expired is on its way then.
//   - The answer to Verify waits for the answer to every create of the same request, so that "no
//     node" means that none will come on this connection. The session removes one that comes later.
//   - NodeGone without an operation comes only for a node that the session still knows as the
//     request's.
//   - TurnCame and Changed are told only to a request that has a node, so never in a contest.
//
// # Grants
//
// A grant needs a lease that is valid now (etcd 11456); otherwise the machine recovers first. A
// predecessor's end grants the lock only if that was the head of the queue when it was listed
// (TurnCame). Otherwise it may have given up from the middle (PredecessorGone), and the queue is
// listed again (ZooKeeper's lock recipe, step 5).
package machine
