// Package actors runs lock requests as actors over a ZooKeeper session that is an actor too.
//
//	a caller of package locks, or a parent actor
//	    │ spawns a lock actor                    ▲ notices: Held, Suspended, Lost, Released
//	    ▼                                        │
//	lock actor:    machine.Step       event  →  row of the table  →  effects
//	    │ orders: Create, List, Watch, GiveBack  ▲ events: Created, TurnCame, Disconnected
//	    ▼                                        │
//	session actor: Coordinator.Apply  input  →  outputs
//	    │ queries                                ▲ replies, events of the connection, timers
//	    ▼                                        │
//	worker:        internal/carrier   round trips over package zkconn, to ZooKeeper
//
// The page actors/FLOWS.md follows a Lock, a hand-over, a cut connection and others through this
// loop, function by function.
//
// # The session actor
//
// [StartSession] spawns it. It owns the connection; lock actors send it orders and receive events.
// It never blocks: requests run on goroutines, and results come back as messages.
//
// A connection lives for one epoch, which is one ZooKeeper session; the next epoch has a new
// connection. So no request of one session is ever carried out in another.
//
// # The lock actor
//
// [NewLock] makes the props of one; spawn it as a child. It is a thin shell around package machine:
// messages become events, effects become orders. It reports to its parent and its observers
// ([WithObserver], and messages.Observe where it runs already).
//
// However a lock actor ends, its node is deleted: by itself on a release, by the session when it
// was stopped or poisoned, lost its parent or panicked.
//
// What protoactor itself logs goes straight to your actor system's logger, on the goroutine that
// caused it: give the system told.NewLog().Logger(log), of package zkconn/told.
//
// To shut down, stop your actors, wait for that (StopFuture), and close the session; or close the
// session first. Where both go on at a time protoactor may log a dead letter: an actor that stops sends
// actor.Stop to lock actors that the session has just ended.
//
// Do not spawn lock actors while stopping: protoactor waits for every child to stop, and nobody
// stops a child that was spawned then.
//
// # The contract
//
// Both actors run on the goroutine of whoever sends to them, unless they are running already or the
// session actor has much to do: a command is carried out, up to the request to the servers, before
// Send returns. Requests to the servers run on workers, and so does what others than lock actors send
// to the session actor, such as messages.ReadQueue. So Send never blocks, and what runs there of
// yours must not: a [Listener], and WithMeterLabels (see "What callbacks may do" in package locks).
// [Session.Ask], Ready, Close, Transact and Read block: call them from a goroutine, not in Receive.
// A lock actor takes the messages of one sender in their order. Of each change of state it first
// sends the Transition, to its observers, and then the notice, to the parent, the observers and the
// listener. Each of them hears everything in this order. Between two of them there is no order, and
// Terminated overtakes notices. A restart keeps nothing: a panic, or a supervisor's restart, ends a
// lock actor, whose node is deleted, or the session, whose locks are lost. A restarted owner loses
// the lock actors that are its children, and keeps their notices in its mailbox. A gateway's lock
// actors run on protoactor's goroutines; the rest is the same.
//
// # Owners
//
// The owner of a request is the actor that spawned the lock actor, or the key in
// messages.Acquire.Owner. Two requests of one owner for one lock wait for each other: each is a
// contender with a node of its own. messages.Acquire.Deadlocks finds that.
//
// An actor that wants several locks takes them in the order of their paths, each when it holds the
// one before (the example "several locks"), so none waits in a circle. If one is lost, it gives the
// others back. Where the session has no room for one (messages.ReasonSessionFull), it gives all
// back and begins again after a pause.
//
// An actor that its supervisor restarts has not ended, and may find notices for its previous
// incarnation in its mailbox: see [NewLock], and locks/guides/supervision.md.
//
// Parents, owners and observers run in the session's process, unless [WithRemote] is set. Package
// gateway has locks for nodes without a session.
//
// Calls of package locks share holds above the session: package turns decides which call holds next
// and with which lock actor, and package sharing carries that out. An actor that wants to share a
// lock holds it and serves others: see messages.Held.Places, WatchContention, Check and
// Acquire.TellMore.
//
// # Actors that exist once
//
// [NewSingleton] makes the props of an actor that every node spawns, and that runs the user's actor
// on one of them, under a lock. Package term decides. Nodes without a session have
// gateway.NewSingleton.
//
// # Who decides what
//
// This package decides nothing. Package machine decides for one request, and internal/coordinator
// for all requests of a session: its package doc is the specification, with the test that fails
// when a rule is broken. The session actor feeds it inputs, carries requests out (internal/carrier)
// and delivers events. Package internal/walk runs both through every order of events. So a change
// to hand-over goes into internal/coordinator/leave.go.
//
// # Fast paths
//
// A session saves requests and time by its fast paths ([FastPaths]). They rest on three facts:
//
//   - Nobody that keeps a waiter out is between it and the node that it watches, or can come there,
//     because new nodes have greater numbers.
//   - While either of two neighbouring nodes of one session exists, no other session is first.
//   - A listing that shows a contender's node shows everything that is before it.
//
// # Queries
//
// A session actor answers messages.ReadQueue, ReadLocks, FindMissing, ReadInside,
// SendRevokeRequest, Break, SetPermits and FindDeadlocks with a message to the sender, from any
// actor, and messages.Follow with the queue after every change. [Session.Ask] is for goroutines.
// Package inspect does the work.
//
// # Data under a lock
//
// [Session.Transact] writes only while a lock is held, and [Session.Read] reads in order with that,
// in the epoch of the grant (messages.Held): Lease.Txn and Lease.Get of package locks. Both block:
// call them from a goroutine. Gateways have neither: the writer must have the session.
//
// # In tests
//
// Package actorstest starts a server, an actor system and a session for a test, records what lock
// actors go through, and has a fake [Provider] whose lock actors do what a test says. Package
// embedded is the server, with faults on demand and, if need be, virtual time.
//
// # What is authoritative
//
// The nodes at the servers decide who holds a lock. A process may rely on its knowledge of them
// until its lease ends:
//
//	deadline = x + T − T/10
//
// T is the shortest timeout that was granted to the session; x is a time at or after which the
// leader is known to have heard of the session: see package zkconn/lease. At a steady rate, with a
// heartbeat every T/6 while anything is held or waited for, the deadline is 0.4 T after the newest
// heartbeat was sent.
//
// The machine grants a lock only when the queue gives it to the request and the lease is valid at
// that moment. A loss is final. A lock actor compares the deadline with the clock before each
// event, so a paused process finds the loss before it acts on anything else.
package actors
