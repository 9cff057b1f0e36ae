// Package messages is the vocabulary of Turnstile: the states of a lock request, the commands that
// a lock actor takes, the notices and transitions that it sends, and the token.
//
// Everything here is plain data.
//
// No message is a protobuf message, so protoactor's remote drops them, without a dead letter.
// wire.Pack, of package actors/gateway/wire, makes a notice, [Transition] or command one that
// crosses and arrives as the original: see actors.WithRemote.
//
// Times are by the clock of the process that has the lease: the session's, or over a gateway the
// requester's. They do not cross: Held.Until, Suspended.Until, Resumed.Until,
// RevokeRequested.Deadline and Transition.At of a packed message are zero on the other node.
//
// # Commands, sent to a lock actor
//
//   - [Release]: give the lock back, or stop asking for it.
//   - [Cancel]: stop asking for it, or give it back.
//   - [Revoke]: ask the holder to give it back.
//   - [WatchContention] and [Check]: questions of a holder.
//
// [Acquire] is not sent: a lock actor is spawned for it.
//
// # Queries, sent to a session actor
//
// [ReadQueue], [ReadLocks], [FindMissing], [ReadInside], [SendRevokeRequest], [Break], [SetPermits]
// and [FindDeadlocks] are answered to their sender, once; [Follow] with a [Queue] after every
// change, until [Unfollow].
//
// # Notices, sent by a lock actor to its parent and its observers
//
// The lock actor is the sender, and is named in the [Grant].
//
//   - [Behind] says whom the request waits for.
//   - [Held], [Suspended], [Resumed], [RevokeRequested], [Revoked] and [Deadlocked] say how the
//     request goes on.
//   - [Contended] and [Checked] answer commands; [Waiting] and [Watched] come with Acquire.TellMore.
//     None of the four crosses to another node.
//   - [Released], [Lost], [Cancelled], [Failed]: the end, the last notice of a lock actor that ends
//     by itself. One that is stopped from outside sends none: watch it.
//
// [StateHeld] is a state, [Held] the notice.
package messages
