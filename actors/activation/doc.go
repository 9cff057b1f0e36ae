// Package activation lets an actor serve messages only while it holds a lock. Of several activations
// of one identity, on any nodes, at most one serves.
//
// Clusters promise that an identity has one activation, and keep that promise while all members see
// the same members. When they do not, two members activate it, and both serve. [Single] puts a lock
// before the messages:
//
//	props := actor.PropsFromProducer(newAccount,
//		activation.Single(session, activation.At(messages.Acquire{Path: "/accounts/7"})))
//
// For grains see package actors/gateway/grain, whose Path gives each identity a lock path of its own.
// Without a session the locks come from gateways (package gateway). actors.NewSingleton is for an actor
// that is spawned on every node, and is to run on one of them.
//
// # What the actor sees
//
// Started is the first message, and comes when the lock is held. [LeaseOf] then gives the fencing
// token, and a context that ends with the lease. Messages that come before are kept, in their
// order, up to a bound ([WithKept]); others are refused. The lease is checked before each message,
// and before each continuation of ReenterAfter. So no message is served once it has run out,
// however full the mailbox is.
//
// The lock is given back when the actor has stopped, and its children before it. An actor that its
// supervisor restarts keeps the lock and its kept messages.
//
// # When the actor stops
//
//   - The lock is lost, or taken by force: the actor is stopped. The messages in its mailbox are
//     not served.
//   - Somebody asks for the lock (messages.RevokeRequested): the actor is poisoned. It serves the
//     messages in its mailbox, stops, and gives the lock back. Acquire.Grace bounds this.
//   - The lock cannot be acquired (messages.Failed, messages.Cancelled): the actor is stopped without having
//     been started. Acquire.Timeout bounds how long it waits.
//   - Its session is closed: the actor is stopped. Session.Close waits until it has stopped, and so for
//     the message that is being served, and no longer than a session timeout. After that the lock is lost.
//   - It is stopped or poisoned while it waits: the kept messages are refused.
//
// The actor's parent and watchers see Terminated, as always. A cluster activates a grain again with
// the next request.
//
// # What is refused
//
// A refused message is a dead letter: an actor.DeadLetterEvent on the event stream, and an
// actor.DeadLetterResponse to the sender. The response ends a future with actor.ErrDeadLetter, and
// has cluster.Request look for another activation. Messages that protoactor itself still has in the
// mailbox of an actor when it has stopped are dropped without a word.
//
// # What this cannot do
//
// A message that is being served when the lease runs out is served to its end. Handlers that take
// long, and goroutines that they start, look at [Lease.Valid] or [Lease.Context]. They pass
// [Lease.Token] on to the stores that they write to.
//
// A client over gateways (gateway.Open) that is closed waits for no message, and the lock is lost at
// once. Stop the actors first.
package activation
