// Package coordinator decides what one session does for all of its lock requests. This page is its
// specification: the parts, the rules, what each rule keeps true, and which test fails when it does
// not.
//
// A [Coordinator] is a value. [Coordinator.Apply] takes one [Input] and gives [Output] values, in
// order. Its state has no connection, clock, goroutine, channel, actor or function (TestPure,
// TestStories). So it can be copied, compared and printed, and package walk can run it through
// every order of events. The session actor in package actors is its shell: it feeds inputs, carries
// queries out on workers, and sends events on to the lock actors.
//
//	lock actor ──order──▶ ┌─────────────┐ ──ask──▶ shell ──requests──▶ ZooKeeper
//	(machine)  ◀──tell─── │ Coordinator │ ◀─reply─ shell ◀─answers────
//	                      │             │ ◀─changed, connected, disconnected, expired──
//	timers     ◀─start─── │             │ ◀─fired──
//	                      └─────────────┘
//	      requests by ID ──▶ request ─────node──▶ node {phase, name, number, token}
//	                            │                  ▲
//	                            └─queue──▶ queue ──┘  our nodes in the order of their numbers; burst
//	      epoch ──▶ lock path ─────────────┘          queues, what is known of the path, the listing under way, watchers
//	        ├─ batch: creates and deletes that wait for a transaction
//	        ├─ heartbeats, timers, queries that have not been answered
//	        └─ replaced whole when the ZooKeeper session ends
//
// # What is authoritative
//
// The nodes at the servers decide who holds a lock. The coordinator's knowledge of them may be
// older than the truth, in one direction only. A node that it believes to be present may be gone. A
// node of ours that exists is known, or its request is in phase creating or unknown, and somebody
// searches for it.
//
//   - Who decides: the machine of a request decides on each grant. The coordinator tells it what
//     has happened (Created, Listed, TurnCame): a server said so, or a holder of this
//     session handed the lock over.
//   - Who judges: a fact is judged where it is known. The coordinator judges what a reply says of a
//     queue, and tells it as a flag of an event: First, Missing, Exhausted. The machine decides on
//     flags and on the options of its request. So a request with Try ends by a row of the machine.
//     The coordinator reads Try only to decide whether its create is delayed.
//   - Which clock: none here. Each input carries what the shell has read of the lease ([At].Lease).
//     Package zkconn keeps the lease, with its rule and proof.
//   - Hold: it rests on one term of the lease, which is a stretch of time in which it was valid
//     without a gap. A later term of the same session does not bring the hold back.
//   - Loss: the term has ended, the node is gone, or the session has expired. Each reply, each
//     heartbeat and the lease timer first compare the term with the last one. If it is another,
//     every request is told LeaseOver before anything else.
//
// The formulas, with T for the session timeout:
//
//	token of a create        czxid << 10 | place      place: 0, 1, … among the creates of its path in one transaction
//	heartbeats               every T/6; every T/16 while less than 0.3 T of the lease is left
//	Silent                   a heartbeat has had no answer T/6 after it was sent
//	lease timer              at the end of the lease; also every T/100 while disconnected
//	one transaction          at most 256 operations and 256 KiB; up to four under way, the later ones of 64 or more
//	delay of a burst         at most 5 ms (burstDelay); 1 ms where somebody may wait for it
//	watch of a lock path     believed in for T at most, where the path is not listed (succession.go)
//	requests that wait       at most 256 in a queue
//	weight of a node         4 bytes and its path at the servers; all nodes at most 512 KiB, a gateway's requester a quarter
//	look for late creates    on each new connection, and every T/2, twenty times
//	retry of a removal       after 100 ms, 200 ms, … up to T, each times 0.5 to 1.5
//	pause of an order        100 ms, 200 ms, … up to 5 s, each times 0.5 to 1.5, from the second hang-up on
//
// # Inputs are believed as far as they prove something
//
//   - An order carries the epoch of the newest event that its machine had heard of. One of an epoch that is over is void
//     (Stale counts it), and is not answered. Orders that come while there is no connection wait for one.
//   - A reply belongs to the Ask of its ID. Replies of an old epoch find nothing. A reply that comes after its request has
//     gone on changes only what is known of nodes.
//   - A refused query did nothing. An unknown outcome is resolved by a look at the lock path (Look), never by a guess, once
//     the create itself has come back. So "there is none" means that none will come on this connection.
//   - A watch tells once. A disconnect ends all watches and waits. The shell has the servers forget a watch for which
//     [Coordinator.Awaits] is false. So whoever registers a watcher sends the read that sets its watch, each time.
//
// # Requests and nodes
//
// A request is a contender: it has one node at a time, and a node one request. What the calls of a client share they share
// above, see package turns. The life of a request is active, ending (it was given up or back) or ended (its lock actor is
// gone). It is removed when nothing of it can be left at the servers, and not before.
//
// # Rules
//
// Each has a story in testdata, which is a trace, and plans of package walk that check what it keeps true in every order of
// events. [Coordinator.Check] has the invariants of the state.
//
// Create. The first create of a lock path that is not known finds out about it on the way, and
// others for the path wait for that (info.txt). The reply tells the token. The queue is listed
// behind the create, in the same round trip, unless it is crowded, or a node of this session is
// before the new one (listing.txt). A request that is first in a listing that shows its node holds,
// at whatever time that was read: contenders before a node only become fewer. Where this session
// locks alone, nothing is listed either: a number that follows the one before tells that nobody
// came between (succession.go, succession.txt). Invariant: one create for a request at a time.
//
// Room (back-pressure). A create is made, or refused: beyond the weight of all nodes of the session in
// the transaction that ends it, and beyond so many requests that wait in one queue (room.go,
// room.txt). Package actors says why: see WithMaxNodeBytes and WithMaxWaiting. A request counts from
// before its create is sent until its node is known to be gone. Invariant: one that was admitted and
// waits is not refused, also in the next epoch.
//
// Group commit. While a transaction is under way, creates and deletes are batched, and go together
// in the next. If one part is refused, each is asked for by itself. If the outcome is unknown, it
// is unknown for each (batching.txt). Where several may be under way, creates do not share one with
// deletes that need another node (batch.go). Invariant: each change that was submitted is answered
// exactly once.
//
// Bursts (local runs). The lock is handed from a node to its neighbour of the same session without a
// request. Changes to a queue are delayed by burstDelay at most, and by a fifth of it where others
// may wait for them (bursts.txt). Invariant: where changes are delayed, a timer runs that sends
// them.
//
// Listing. One listing serves every request that asked before it was answered and whose node it
// shows, because nodes only ever vanish from before a contender (listing.txt). Invariant: no
// request is told that it is nearer to the head than it is.
//
// Wait. A request waits for one node, its predecessor. The first waiter of a semaphore waits for
// all before it and for the number of permits, which may change (watching.txt, semaphores.txt). The
// number is read behind the listing. Invariant: holders together have no more permits than the last
// of them, in the order of the queue, found when its node was there. A predecessor of this
// session needs no watch, because the session hears of its end by itself. Invariant: a waiter is
// registered before the query that sets its watch is sent, so no event comes too early; a wait ends
// once. So no wake-up is lost (lost wake-up), and a release wakes no thundering herd. A waiter with
// a node that hears nothing lists again after a session timeout. Changes that only this listing
// finds are counted (Counts.Polls).
//
// Hand-over. When a holder gives the lock back, the request whose node is right behind in this
// session holds at once, and the delete follows. Nobody can come between two neighbours. While
// either node exists, nobody of another session is first.
//
// The delete is one transaction with a check that the present holder's node exists. If an operator
// has deleted that node, the older one stays until its request has been told (hand_over.txt).
// Invariant: of the nodes from a holder's to the one that the lock was handed to, at least one
// exists. A hold that is taken from its owner is never handed over.
//
// Look-ahead. Some waiters watch the node before their predecessor, too: see look_ahead.go (look_ahead.txt).
//
// Holders ask for more where calls of their client share a hold (contention.go, contention.txt).
// WatchQueue lists the queue and watches it; after a change it is listed again, and only a listing
// tells Contended. CheckOwn has a transaction, sent after it, check the node. A loss of the
// connection ends both, and their owner asks anew. Invariant: while the connection stands a holder that
// has asked is told of a contender that stands behind it, and of its node.
//
// Requests that tell more (messages.Acquire.TellMore) list the queue also behind a neighbour, and are
// read at once where they hold (tells_more.txt). Created and Found say which places behind the token
// are the holder's alone. Invariant: no other node has, or will have, one of them.
//
// Downgrade. A reader that names the node of a writer which holds in this session makes its own at
// the number of that node, in a transaction that needs it, and has its token (downgrade.txt).
// Invariant: nobody who came later is between them, so none gets in when the writer is released.
//
// Reclaiming. A request with a reclaim key takes over the node of an earlier process, if that is the
// first of the queue. It replaces the node at its number in one transaction (reclaim.txt).
// Invariant: its token is known before the node is made, also where the transaction comes late, and
// greater than any that was held with before. So a hold with a reclaim key is never handed over.
//
// Contests. One node and no queue. Its name does not tell its owner: the guard beside it does, which
// has a name of its own for each create (kinds.go, contests.txt). One
// transaction makes both, and one deletes both. So a delete that is carried out late, after the session
// has moved to another server, is refused, and spares the next holder. Invariant: only the session that
// made a contest's node deletes it, and only that node.
//
// Clean-up. However a request ends, one mechanism removes the node that may be left of it. It
// retries until the node is known to be gone or the epoch is over (clean_up.txt).
// Invariant: a request that has ended has a removal that goes on. A node that
// may not be deleted ends the session, because it would keep everybody out.
//
// Pauses. A server may hang up on the same request each time, or put it off. From the second hang-up in a row on, that
// order of that request waits before it is sent again, and goes by itself (pause.go, pauses.txt). Looks have a count and
// pauses of their own, one for each lock path. What only makes things faster is given up: the watch
// of a lock path, or for contenders, after two hang-ups, look-ahead after one. Where a holder waits for a look, or for the check of its node, the pause
// is a quarter of the rest of the lease at most. Invariant: an order that waits has a timer, and is void when the connection
// is lost.
//
// The ledger. Each attempt of a request to make a node has a name of its own, which begins with random bits of the epoch
// (Spec.guid). So one look at a lock path, behind a committed transaction, tells all who ask what has become of their nodes:
// those that verify, and removals of nodes that are not known (look.go, ledger.go, looks.txt, verifying.txt). What is not
// there was not made, and the next attempt has another name. So no request takes a node whose delete was sent, and no late
// delete takes another node. A holder has its own node checked, and depends on no look; but in a contest.
//
// A node of this epoch that is no request's newest attempt is a stray. It is removed when a look or a listing shows it: a
// create was carried out late, or restored servers have brought a node back (strays.txt). Late creates come only between two
// connections: the session looks for them on each new one. Invariant: no node is removed that a request has, or may be making.
//
// Heartbeats. While there is a node, a transaction that checks one is committed every T/6, held ones first. Its answer
// extends the lease, and tells of a node that is gone (heartbeats.txt, lease.txt). Where the servers hang up on one after the
// other, and on nothing else, the next waits as a holder does.
//
// # When the session ends
//
// An expiry replaces the epoch: every path, queue, node, watch, timer and query of it is dropped in one assignment, and
// requests that have ended with it. Requests that live are told Disconnected, unless they were, and then Expired. They make
// new nodes in the next epoch, or end (epochs.txt). No answer of the old epoch can reach the new one.
//
// # Where a change goes
//
// Every Ask has a purpose, a plain value whose method answered takes the reply, and whose file says how that changes a
// request. A method stale, where it has one, says whether nobody waits for the reply any more. The interface kind has the
// differences between kinds of locks. batch.go decides when changes are sent; burst.go delays some. leave.go decides which
// request holds next. When that is wrong, TestStories/hand_over fails, and TestWalk of package walk.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        node, spec, query, boundary, path, request, state
//	primitives  emit, pause, look, heartbeat, room, succession, batch, burst
//	waiting     listing, look_ahead, wait
//	nodes       own_node, leave, ledger, missing, contention
//	creating    create
//	kinds       kinds
//	dispatch    order, figures, apply
//	walk        check
package coordinator
