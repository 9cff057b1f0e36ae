// Package inspect answers queries about queues: who contends for a lock, which locks there are, who
// waits for whom. Some also act: they ask a holder to give its lock back, delete a contender's
// node, or set a number of permits. They need only a connection.
//
// # On a connection
//
// [Queue], [Locks], [Missing], [Revoke], [RevokeOne], [Break], [SetPermits], [Deadlocks] and
// [PossibleDeadlocks] block until the servers have answered, and do not retry. After an unknown
// outcome each may be called again: carrying a query out twice does no harm.
//
// # In a session
//
// A [Dispatcher] answers the same queries as messages (messages.ReadQueue and its siblings, and
// [DeadlockProbe]) for a session actor. Its rules:
//
//   - A query that is not well formed is refused at once.
//   - A query waits while the session is not connected. It outlives the connection and the epoch,
//     and is run again until its outcome is known, or the asker withdraws it.
//   - A follower ([Dispatcher.Follow]) is told the queue at once, after every change, and after
//     every reconnect. No change is lost: the watch is set before the queue is read.
//   - messages.ReadInside is about the session's own requests. It is answered at once, connected or
//     not.
//   - When the session is closed, every asker and every follower is told so.
//
// The [Session] lends workers and timers. Everything but the reading itself runs on the session's
// goroutine, so nothing is locked.
//
// # What an answer shows
//
// Every read begins after a committed transaction ([zkconn.Conn.CatchUp]), so it shows what was
// there at the call, or later. Nodes and queues are read one after the other: contenders that leave
// meanwhile are left out, and [Deadlocks] reads twice.
package inspect
