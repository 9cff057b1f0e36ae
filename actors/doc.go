// Package actors runs lock requests as actors over a ZooKeeper session that is an actor too.
//
// # The session actor
//
// [StartSession] spawns it. It owns the connection and is the only one that talks to ZooKeeper. Lock
// actors send it orders and get events back as messages. It never blocks: requests run on other
// goroutines, and their results come back as messages. A connection lives for one epoch, that
// is one ZooKeeper session: when the server ends the session, the connection is closed and the next
// epoch begins with a new one, so that nothing that was asked for in one session is ever carried out
// in another.
//
// # The lock actor
//
// [NewLock] makes the props of one; spawn it as a child. It is a thin shell around package machine:
// messages become events, effects become orders. It reports to its parent and to the observers that
// options name. However it ends, its node goes: it deletes it itself when it is asked to release, and
// the session does it when the lock actor was stopped, poisoned, lost its parent, or panicked. Neither
// actor is ever restarted: a panic ends it, and only it.
//
// A lock actor runs on the goroutine that sends to it, when it is not running already: the session's, a timer's, or the
// caller's. So a logger that blocks holds up the session.
//
// An actor that spawns a lock actor while it is stopping itself keeps it: protoactor then waits for a child that
// nobody stops. Ask for locks before.
//
// # Whose a request is
//
// The owner of a request is the actor that spawned the lock actor, or the key in messages.Acquire.Owner. Two
// requests of one owner for one lock would wait for each other; see there what becomes of the second. [NewAll]
// makes the props of an actor that acquires several locks as one.
//
// An actor that its supervisor restarts has not ended, and may find notices of its previous
// incarnation's lock actors in its mailbox: see [NewLock]. Parents, owners and observers run in the
// session's process, unless [WithRemote] is set. protoactor tells that a node is out of reach
// (AddressTerminated) as it tells that an actor has ended, and the actor may still rely on its lock:
// the lock is given back only when what the owner was promised has run out. Package gateway has locks
// for nodes without a session.
//
// # Actors that exist once
//
// [NewSingleton] makes the props of an actor that every node spawns, and that runs the user's actor on
// one of them, under a lock. It is the actor of a leader loop: package internal/singleton decides, and
// tests/singleton shows it in virtual time. Nodes without a session have gateway.NewSingleton.
//
// # Who decides what
//
// Nothing is decided in this package. Package machine decides for one request, internal/coordinator for all requests of a
// session: its package doc is the specification, rule by rule, of batches, local runs, hand-over, look-ahead, retained
// nodes, owners, clean-up and heartbeats, with the tests that fail when a rule is broken. The session actor is its shell: it
// feeds it, carries out what it asks for (carrier.go), and delivers what it says. internal/walk runs both decisions
// through every order of events. So a change to hand-over goes into internal/coordinator/hand_over.go.
//
// # Fast paths
//
// A session saves requests and time where it can: see [FastPath]. What rests on what: a contender that watches a node has
// nobody between, and nobody can come in between, since new nodes get greater numbers; as long as either of two neighbours
// of one session exists, nobody of another session is first; and a listing that shows a contender's node never shows less
// than is before it. Those of [FastPath] can be switched off: [WithoutFastPaths].
//
// # Queries
//
// A session actor answers messages.ReadQueue, ReadLocks, AskBack, Break, SetPermits and FindDeadlocks
// with a message to the sender, from any actor, and tells the sender of messages.Follow of a queue
// again and again. [Session.Ask] is for goroutines. Package inspect does the work.
//
// # In tests
//
// Package actorstest has an observer ([WithObserver]) that records what a lock actor goes through, and waits for its
// states. Package embedded brings the server, with faults on demand and, if need be, virtual time.
//
// # What is authoritative
//
// The node in ZooKeeper decides who holds. What this process knows of it is trusted for as long as the
// lease clock allows, which goes by what the leader is known to have heard of the session: mostly until 0.4
// session timeouts after the newest heartbeat. Package zkconn has the rule and its proof. While anything is held or waited
// for, the session commits a heartbeat every sixth of
// the timeout, so that a grant finds a lease that is valid. A holder whose lease has run out is Lost
// for good, whatever the server says later; its node is deleted when the connection is back.
package actors
