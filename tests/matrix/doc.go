// Package matrix tests locks under faults: every request that Turnstile sends, met by every fault
// that can meet it.
//
// The rows are the requests: create, list, watch, syncing, verify, delete, ping. The columns are
// the faults. A cell is a test, TestMatrix/<request>/<fault>, with the outcome that it demands in
// one sentence; or it is listed with the reason why it makes no sense. TestMatrixIsComplete fails
// when a cell is neither.
//
// A cell runs in a synctest bubble, on the embedded server and without a network. Time is the
// bubble's, so a session expires in no time and nothing depends on how fast a machine is. In each
// cell a subject asks for a lock, holds it or gives it back; others wait before it or behind it.
// The fault meets its request at the server. Then the cell compares
//
//   - the states that the subject went through,
//   - the notices that it was told,
//   - the nodes that are in the queue,
//   - who holds next and with which token,
//   - and that nothing is left when everybody has gone.
//
// TestRecipes goes through all that once more for the other kinds of locks and of waiting, the
// recipes, with the requests that only these send. It
// demands what is demanded of the exclusive lock, by way of the states that the recipe has. Where
// that is not so, the recipe's own list of cells says what.
//
// Crowds are many requests at once: creates that share a transaction, a lock that is handed over, waiters that look ahead, and
// holds that calls of one client share. What the session decides is told exactly by the stories of the coordinator; crowds show
// that it comes out so with servers.
//
// TestTouches plays what happens inside an ensemble. One direction of a link between leader and
// follower stalls, a follower dies right after a grant, the leader pauses, a reconnect is granted
// another timeout, a machine is suspended. The lease has to end before the leader, by what it has
// heard, can let the next in.
//
// The fault "ended-elsewhere" ends the session at the servers while its connection stays: requests
// are then refused in their parts, with a header that says nothing of it. TestReplacedServers
// wipes the servers, restores them from an old backup, or has them hand out other
// sessions. Every client, whether it holds, waits or is idle, works again within the session
// timeout and two seconds.
//
// Servers that are restored while they run, by the restore command of 3.9's admin server, are not
// played. No client can prove anything there: the sessions that the server ends, and those that it
// never ends, look to them as they always do (LIMITS). A test would show a fault of the servers' and
// no rule of ours, and the servers of the tests run without Jetty, which that command needs.
//
// A process that is stopped is a real one, on real servers too: TestProcessIsStopped.
package matrix
