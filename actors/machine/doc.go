// Package machine is the state machine of one lock request. It is pure. A lock actor turns messages
// into events, calls [Machine.Step], and carries out the effects; no other code changes the state
// of a request. [ListedEvent] tells it what package queue says of the queue.
//
// The machine is one table of rows {From, On, If, To, Do}: see [Rows]. A row fires when the machine
// is in From, the event is On, and the condition If holds. Rows of one pair of state and event are
// tried in order, and the last has none. A pair without a row is impossible ([Possible]), a
// bug: on Halt the actor stops, and the session removes the node.
//
// # Operations and stale replies
//
// Requests carry the number of their operation. A reply or timer with another number than the
// current one is stale: Step drops it, so leaving a state voids what was under way. Number zero
// (commands, and events of the session) is never stale.
//
// # What the session promises
//
//   - Expired comes only after Disconnected, or to a request that asked for its node while the
//     connection was down.
//   - Connected comes only to such a request, or to one that was told Disconnected, and before any
//     answer to orders that came meanwhile.
//   - Orders of an epoch that is over are dropped without an answer: Expired is on its way then.
//   - The answer to Verify waits for the answer to every create of the same request, so that "no
//     node" means that none will come on this connection. The session removes a later one.
//   - NodeGone without an operation comes only for a node that the session knows as the request's.
//   - TurnCame and Changed need a node of the request, so never come in a contest.
//
// # Grants
//
// A grant needs a lease that is valid now (etcd 11456); otherwise the machine recovers first. A
// predecessor's end grants the lock only if that was the head of the queue when it was listed
// (TurnCame). Otherwise it may have given up from the middle (PredecessorGone), and the queue is
// listed again (ZooKeeper's lock recipe, step 5).
package machine
