// Package inspect answers queries about queues: who contends for a lock, which locks there are, who
// waits for whom. Some also act: they ask a holder to give its lock back, delete a contender's
// node, or set a number of permits. They need only a connection; holders and waiters take no part.
//
// # On a connection
//
// [Queue], [Locks], [Missing], [Revoke], [RevokeOne], [Break], [SetPermits], [Deadlocks] and
// [PossibleDeadlocks] block until the servers have answered. They are for goroutines that have a
// [zkconn.Conn] of their own. They do not retry. After an unknown outcome each may be called again,
// because carrying a query out twice does no harm.
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
// The session tells the dispatcher what happens to it, and lends it workers and timers: see
// [Session]. Everything but the reading itself runs on the session's goroutine, so nothing is
// locked.
//
// # What an answer shows
//
// Every read begins after a committed transaction ([zkconn.Conn.CatchUp]), so it shows what was
// there when it was asked for, or later. The nodes of one queue are read one after the other;
// contenders that leave meanwhile are left out. Queues of different locks are read at different
// times. [Deadlocks] therefore reads twice and believes a circle that both readings show.
package inspect
