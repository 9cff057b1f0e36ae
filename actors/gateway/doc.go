// Package gateway brings locks to nodes that have no ZooKeeper session, over protoactor's remote.
//
// A session costs the ensemble a heartbeat every sixth of its timeout. A gateway is an actor on a
// node that has a session; it acquires for requesters on any number of other nodes. [Spawn] gives
// it a well-known name, or [Kind] lets other nodes spawn it.
//
//	gateway.Spawn(system, session, "locks")                          // on a node with a session
//
//	at := gateway.At(actor.NewPID("10.0.0.1:8090", "locks"),         // on any other
//		actor.NewPID("10.0.0.2:8090", "locks"))
//	ctx.Spawn(gateway.NewLock(at, messages.Acquire{Path: "/job"}))   // for actors
//	client, err := gateway.Open(opening, system, at)                 // for goroutines; give opening a deadline
//	lease, err := client.Mutex("/job").Lock(ctx)
//
// [NewSingleton] runs an actor once in the cluster, on nodes without a session.
//
// # How long a lock is ours
//
// The gateway answers each sending of a requester with the duration for which its own lease still
// runs, and the requester counts it from when it sent. So the requester's lease ends first, even if
// messages are late, processes stop, or clocks differ. Clocks of two nodes are never compared; a
// hundredth is taken off for clocks that do not go equally fast. Package relay, inside this one, is
// the specification of both ends, pure, and is simulated.
//
// A holder whose gateway is gone, or out of reach, is told Suspended. It is told Lost when its
// lease has run out, at a steady rate within 0.4 session timeouts. A gateway that does not hear of
// a requester for a session timeout gives its lock back, but never before all that it had promised
// has run out. So a requester that dies delays the next holder by about a session timeout, as a
// session that dies does.
//
// # When to use a session on each node, and when a gateway
//
// With a session, a lock depends on the way to the ensemble alone, and a grant takes one round
// trip. With a gateway, it depends on the gateway, too. Everything that is held there is lost when
// the gateway dies, and a grant takes one more message each way.
//
// A cut between a node and the ensemble costs a node with a session its locks. A cut between two
// nodes costs the requester the locks that it holds by that gateway. Requests that wait go on at
// another gateway, if several were named and messages.Acquire does not say otherwise.
//
// Use a gateway where there are many nodes with few locks each: the gateway's batches and hand-overs
// turn their requests into few transactions.
//
// # In a cluster
//
// [Find] gives gateways that are looked up by lock path instead of being named. Package grain, inside
// this one, looks them up in a protoactor cluster; [At] needs no cluster.
//
// # What crosses
//
// Package wire has the messages. Any may be lost, doubled, delayed, or overtaken. Both nodes link
// that package. A request with a field that the gateway does not know is refused with a reason, told
// as messages.Failed.
//
// Use [WithRecovery] on every node. protoactor's remote panics on messages of a type that it does not
// link, and on unary calls, makes room for a million messages to each address that it is to answer,
// 16 MB each, and lets other nodes stop any actor. [WithMaxRequests] bounds the requests.
//
// No message is authenticated. Whoever can reach the remote can ask for locks, make their holders
// give them back, and break them; see queues; and stop gateways, requesters, and the program's own
// actors. Keep it in a network of its own, or give it TLS: see the example.
package gateway
