// Package sharing is the shell of package turns: it has the calls of one client share holds above
// the queue. A hold is a lock actor. Package locks makes a call for each Lock, a gateway for each
// request of another node.
//
//	user ──Call, GiveBack──▶ ┌───────┐ ──input──▶ ┌───────┐
//	     ◀─Granted, Told──── │ Calls │ ◀─output── │ Turns │
//	lock actor ──Held, Lost─▶└───────┘            └───────┘
//	           ◀─Release─────
//
// # Inputs and outputs
//
// Inputs come on any goroutine and are carried out under one mutex. The clock of the lease is read
// before: it may ask a user's function. Outputs go into queues by lock path, and whoever finds a
// queue unattended carries it out, in order, without the mutex. So what follows from an output, on
// the same goroutine, is another input, and the queue is not entered twice. After a while a
// goroutine leaves the queue to one of its own.
//
// # What a call is told
//
// A call has one end: Refused, or after Granted one of the final states of Told. Granted is called
// with the mutex, so that a waiter goes on while the one who gave back still deletes the node. The
// others are called without it, by the goroutine that attends. When the term of the lease ends, the
// goroutine of its clock tells the calls at once, past the queue: others may hold soon.
//
// # Below
//
// A lock actor has the Acquire of the call that the hold is asked for, without what is of calls:
// Timeout, Grace, MaxWaiters, Sticky, Cohort, Reentry. One with observers, which are told, has the
// Grace. One that may serve several calls names neither owner nor caller, and tells more
// (messages.Acquire.TellMore), as does, over a gateway, one that is its call's alone: the gateway
// then shares it with nobody. A downgrade, beside a writer's, has the owner by which the session
// knows that one.
//
// Calls count requests, waits and holds; lock actors of this package only what happens to their nodes.
//
// # Searches
//
// A session asks for the calls that wait without a node, and for who has shared nodes
// ([Calls.Nodes], [Calls.Inside]). A call that looks for deadlocks is probed for here while it
// waits without a node, else by its lock actor.
package sharing
