// Package coordinator decides what one session does for all of its lock requests. This page is its
// specification: the parts, the rules, what each rule keeps true, and which test fails when it does
// not.
//
// A [Coordinator] is a value. [Coordinator.Apply] takes one [Input] and gives [Output] values, in
// order. Its state has no connection, clock, goroutine, channel, actor or function
// (TestStateIsData). So it can be copied, compared and printed, and package walk can run it through
// every order of events. The session actor in package actors is its shell: it feeds inputs, carries
// queries out on workers, and sends events on to the lock actors.
//
//	lock actor ──order──▶ ┌─────────────┐ ──ask──▶ shell ──requests──▶ ZooKeeper
//	(machine)  ◀──tell─── │ Coordinator │ ◀─reply─ shell ◀─answers────
//	                      │             │ ◀─changed, connected, disconnected, expired──
//	timers     ◀─start─── │             │ ◀─fired──
//	                      └─────────────┘
//	      requests by ID ──▶ request ─────node──▶ node {phase, name, number, token, users}
//	                            │                  ▲
//	                            └─queue──▶ queue ──┘  our nodes in the order of their numbers; burst; retained node
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
//     has happened (Created, Listed, TurnCame, Seated): a server said so, or a holder of this
//     session handed the lock over.
//   - Who judges: a fact is judged where it is known. The coordinator judges what a reply says of a
//     queue, and tells it as a flag of an event: First, Missing, Exhausted. The machine decides on
//     flags and on the options of its request. So a request with Try ends by a row of the machine.
//     The coordinator reads Try only to choose its queries, and whether it tells SeatTaken.
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
//	token of a later grant   the same czxid, place + 1    of a retained node, and in a cohort; at most messages.MaxPlace
//	heartbeats               every T/6; every T/16 while less than 0.3 T of the lease is left
//	Silent                   a heartbeat has had no answer T/6 after it was sent
//	lease timer              at the end of the lease; also every T/100 while disconnected
//	one transaction          at most 256 operations and 256 KiB; up to four under way, the later ones of 64 or more
//	delay of a burst         at most 5 ms (burstDelay); 1 ms where somebody may wait for it
//	a cohort's node          at most as many grants as asked for, and T/20
//	retained nodes           at most 1 024 in a session
//	watch of a lock path     believed in for T at most, where the path is not listed (succession.go)
//	nodes that wait          at most 256 in a queue; half of them are made together
//	weight of a node         4 bytes and its path at the servers; all nodes at most 512 KiB, a gateway's requester a quarter
//	retry of a removal       after 100 ms, 200 ms, … up to T
//	pause of an order        100 ms, 200 ms, … up to 5 s, each times 0.5 to 1.5, from the second hang-up on
//
// # Inputs are believed as far as they prove something
//
//   - An order carries the epoch of the newest event that its machine had heard of. One of an epoch
//     that is over is void (Stale counts it) and is not answered: Expired is on its way. Orders
//     that come while there is no connection wait for one.
//   - A reply belongs to the Ask of its ID. Replies of an old epoch find nothing. A reply that
//     comes after its request has gone on changes only what is known of nodes: searches and waits
//     have operation numbers for that.
//   - A refused query did nothing. An unknown outcome is resolved by a search for the node (Find),
//     never by a guess. The search waits until the create itself has come back. So "there is none"
//     means that none will come on this connection; for the next see Orphans.
//   - A watch tells once. A disconnect ends all watches and waits, and each machine finds out anew
//     where it stands. The shell has the servers forget a watch for which [Coordinator.Awaits] is
//     false. So whoever registers a watcher sends the read that sets its watch, each time.
//
// # Requests and nodes
//
// A request has one node at a time. The phases of a node are declared with their invariants. A node
// has one user while it is waited or held with. It has several while a hold is shared: by requests
// of one owner (reentry), or by readers of a cohort, whose line it has as well. A retained node has
// one user: its last holder. The life of a request is active, ending (its owner may ask anew) or
// ended (its lock actor is gone). A request is removed when nothing of it can be left at the
// servers, and not before.
//
// # Seats
//
// A request sits on a node, and one node may seat many requests. A create asks seat where its
// request is to sit. A request that leaves asks unseat what happens to its node. Both are in
// seats.go and only read the state; create and giveUp carry the answers out. The lease, the
// connection and a revoke request (node.wanted) bound all of them: a node that is wanted back seats
// nobody else.
//
// One table for all settings. The answers are those besides makes and goes, which a lock without
// settings gets (TestSeatTable):
//
//	Retained nodes
//	  setting       messages.Acquire.Sticky
//	  who shares    one request after the other, if their nodes would say the same (saysTheSame)
//	  exists by     a transaction that checks the node, sent after the create came
//	  next token    the next place; a node that has none is deleted
//	  inherited by  nobody: a node is retained only after a hold
//	  ends          after Sticky, with an arrival, with the connection, or when others need its room
//	  answers       reuses, isRetained
//	Cohort
//	  setting       messages.Acquire.Cohort, of a lock that excludes
//	  who shares    one request after the other, of one style (name, mode, naming)
//	  exists by     a watch, from the second grant on, and heartbeats
//	  next token    the next place; a node that has none is deleted
//	  inherited by  the next in line, before the first hold
//	  ends          after Cohort grants or T/20
//	  answers       lineOfNode, hasNode, nextHolds, nextWaits
//	Readers of a cohort
//	  setting       messages.Acquire.Cohort, of a lock that reads
//	  who shares    readers of one style, together
//	  exists by     a watch, from the second grant on, and heartbeats
//	  next token    none: all have the token of the node
//	  inherited by  the next in line, before the first hold
//	  ends          after Cohort grants or T/20, or when a request of the session comes that excludes them
//	  answers       lineOfNode, hasNode, joinsReaders, nextWaits, stillUsed
//	Reentry
//	  setting       messages.Acquire.Owner, with Reentry
//	  who shares    requests of one owner with the same access, together
//	  exists by     the watch of the first, and heartbeats
//	  next token    none: all have the token of the node
//	  inherited by  nobody: the others of its owner queue by themselves
//	  ends          with the last of them
//	  answers       awaitsRequest, sharesHold, stillUsed, refused
//	Downgrade
//	  setting       messages.Acquire.Owner, of a reader whose owner writes
//	  who shares    nobody: it makes a node of its own at the number of the writer's
//	  exists by     its create, which needs the writer's node in the same transaction
//	  next token    the writer's
//	  inherited by  nobody
//	  ends          with its hold
//	  answers       makesBeside
//	Admission
//	  setting       Bounds
//	  who shares    nobody: a request in line makes a node when it is called
//	  exists by     its create
//	  next token    that of its create
//	  inherited by  nobody: the room of a node goes to the line of its queue
//	  ends          when the request is called, refused, or given up
//	  answers       lineOfQueue, awaitsRoom, full
//	Bound on waiters
//	  setting       messages.Acquire.MaxWaiters
//	  who shares    nobody: it decides whether a request may queue
//	  exists by     nothing: the queue is listed before its create
//	  next token    that of its create
//	  inherited by  nobody
//	  ends          when the request is let in, or refused
//	  answers       listsFirst, refused
//
// Reclaimers, bursts and hand-over stay apart: a reclaimer takes a node over from another session,
// and bursts and hand-over pass the lock on from node to node. The line of a cohort that excludes
// belongs to its queue, because it outlives the node. The next node serves it, also after a lost
// connection (keepLine) and in the next epoch (linesOfCohorts). Its bounds belong to the queue with
// it, because a cohort ends before its node goes: the last holder keeps the node. A retained node's
// terms are its queue's retention: how long it stays, and which request is about to reuse it.
//
// # Rules
//
// Each has a story in testdata that reads as a trace, and plans of package walk that check what it
// keeps true in every order of events. [Coordinator.Check] has the invariants of the state. Tests
// and the walk call it after every input.
//
// Create. The first create of a lock path that is not known finds out about it on the way, and
// others for the path wait for that (info.txt). The reply tells the token. The queue is listed
// behind the create, in the same round trip, unless it is crowded, or a node of this session is
// before the new one (listing.txt). A request that is first in a listing that shows its node holds,
// at whatever time that was read: contenders before a node only become fewer. Where this session
// locks alone, nothing is listed either: a number that follows the one before tells that nobody
// came between (succession.go, succession.txt). Invariant: one create for a request at a time.
//
// Admission (back-pressure). A session bounds the nodes that wait in one queue, and the weight of
// all its nodes in the transaction that ends it. Requests beyond that stand in the line of their
// queue, without a node. Where the queue has no node of the session they are refused instead
// (admission.txt). Package actors says why: see WithMaxNodeBytes. Seats that need no node come
// first.
//
// A node weighs from before its create is sent until it is known to be gone. A node that goes leaves
// its room to its own queue's line, with the same input. Then lines that wait for weight have a
// turn, in order. Invariant: a queue with a line has a node, or a request that was called to make
// one. So a request in line is called, or is refused. In the next epoch requests that had nodes
// come first.
//
// Bound on waiters (load shedding). A request with MaxWaiters has the queue listed before its create, and is
// refused where it would wait behind so many (max_waiters.txt). An answer decides those of the session, too, that
// asked before it, so they keep their order. Invariant: a request that was refused never had a node, and one
// that was let in is never refused.
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
// all before it and for the number of permits (watching.txt, semaphores.txt). A predecessor of this
// session needs no watch, because the session hears of its end by itself. Invariant: a waiter is
// registered before the query that sets its watch is sent, so no event comes too early; a wait ends
// once. So no wake-up is lost (lost wake-up), and a release wakes no thundering herd. A waiter with
// a node that hears nothing lists again after a session timeout. Changes that only this listing
// finds are counted (Counts.Polls). A waiter without a node is told by callNext, dissolveLine or
// giveTurns alone.
//
// Hand-over. When a holder gives the lock back, the request whose node is right behind in this
// session holds at once, and the delete follows. Nobody can come between two neighbours. While
// either node exists, nobody of another session is first.
//
// The delete is one transaction with a check that the present holder's node exists. If an operator
// has deleted that node, the older one stays until its request has been told (hand_over.txt).
// Invariant: of the nodes from a holder's to the one that the lock was handed to, at least one
// exists. A hold that is taken from its owner is never handed over. Nor is anything in a session
// that may not READ its own nodes, once a server has refused it such a check.
//
// Look-ahead. A predecessor of another session may wait itself. Its waiter then also watches the
// node before its predecessor, and lists the queue when that node goes. The grant then needs only
// the event (look_ahead.txt). Invariant: a wait ends with TurnCame only if its predecessor was seen
// at the head; everybody else lists.
//
// Retained nodes. The node of a lock that was given back may stay for the next request of this
// session, while nobody else is in the queue (retaining.txt). An operator may have deleted it. So
// it is reused only when a transaction that was sent after the request came has found it
// (reusing.txt). Invariant: nobody holds with a retained node, the queue knows it, and it goes as
// soon as anybody else is seen.
//
// Holders that share their hold ask for more (contention.go, contention.txt). WatchQueue watches for
// other contenders as for a retained node; but after a change the queue is listed again, and only a
// listing tells Contended. CheckOwn has a transaction, sent after it, check the node. A loss of the
// connection ends both, and their owner asks anew. Invariant: while the connection stands a holder that
// has asked is told of a contender that stands behind it, and of its node.
//
// Requests that tell more (messages.Acquire.TellMore) list the queue also behind a neighbour, and are
// read at once where they hold (tells_more.txt). Created and Found say which places behind the token
// are the holder's alone. Invariant: no other node has, or will have, one of them.
//
// Cohorts. Requests of one session for one lock that ask for it share one node, and waiters have no
// node (cohorts.txt). The node serves a bounded number of grants, for a bounded time. Invariant:
// where requests wait in a cohort, one leads or is to; a request that waits there has no
// node. The line keeps its order when the connection is lost, and when the session ends: its
// machines ask anew in any order, and requests that come meanwhile are behind. A request whose
// create was lost finds its place in the line again, but behind one that leads by then.
//
// Readers of a cohort hold together with its node, which is shared as by an owner's requests, and
// have its token (readers.txt). While they read, others may be let in within the bounds of the
// cohort. Only a listing would show whether a writer of another session waits behind the node. If a
// writer of this session waits there, none is let in. Invariant: only one owner's requests, or
// readers, share a node; nobody stands in the line of a node that has the lock, or goes.
//
// Descriptions. A node's data name its present owner, for searches for deadlocks in other processes
// and for people. Where it was passed on they are written anew before long, never in the way of a
// grant (descriptions.txt). Invariant: where they are wrong, a look at them is due; a session
// writes at most twice a second.
//
// Owners (reentrant locks). Requests of one owner for one lock would wait for each other for ever. The second shares
// the hold, becomes a downgrade, waits, or is refused (owners.txt, downgrade.txt). Invariant: a
// request that has ended, or is ending, keeps out nobody of its owner; a shared node goes with its
// last user.
//
// Reclaiming. A request with a reclaim key takes over the node of an earlier process, if that is the
// first of the queue. It replaces the node at its number in one transaction (reclaim.txt).
// Invariant: its token is known before the node is made, also where the transaction comes late, and
// greater than any that was held with before. So a hold with a reclaim key is never handed over.
//
// Contests. One node and no queue. Its name does not tell its owner: session, czxid and data do
// (contests.txt). Beside it stands a guard, with a name of its own for each create (kinds.go). One
// transaction makes both, and one deletes both. So a delete that is carried out late, after the session
// has moved to another server, is refused, and spares the next holder. Invariant: only the session that
// made a contest's node deletes it, and only that node.
//
// Clean-up. However a request ends, one mechanism removes the node that may be left of it. It
// retries until the node is known to be gone or the epoch is over (clean_up.txt, verifying.txt).
// Invariant: a request that has ended has a removal that goes on, or a retained node. A node that
// may not be deleted ends the session, because it would keep everybody out.
//
// Pauses. A server may hang up on the same request each time, or put it off. From the second
// hang-up in a row on, that order of that request waits before it is sent again, and goes by itself
// (pause.go, pauses.txt). The search for its node never waits for that: it has pauses of its own.
// Heartbeats and the orders of other requests go on. Invariant: an order that waits has a timer,
// and is void when the connection is lost.
//
// Orphans. A create that was lost may be carried out after a search has found no node. That happens when the
// session has moved to another server, and moves back between two connections of its client. The
// session looks for such nodes on each new connection, and every half of its timeout, and removes
// those that are no request's (orphan.go, orphans.txt). If the servers hang up on these looks, it leaves
// them to the timer. Downgrades and take-overs choose the name of their node, so an orphan may have the
// name of a later node (downgrade.txt). Invariant: no request takes a node whose delete was sent, or makes
// one of that name, because the delete may come late as well. A node that a request may be making is not
// removed.
//
// Nodes that nobody owns. A server that was restored may bring back a node of this session that is
// deleted. It is removed when a request that waits reads it, or finds it at the head of the queue
// when it looks again (unowned.go, unowned.txt). Invariant: a node is removed so only if no request
// of the session can have made it.
//
// Heartbeats. While there is a node, a transaction that checks one is committed every T/6; nodes
// that are held with come first. Its answer extends the lease, and tells of a node that is gone
// (heartbeats.txt, lease.txt). The servers may hang up on one after the other, and on nothing else.
// Then the next waits on its new connection, for a quarter of the rest of the lease at most.
//
// # When the session ends
//
// An expiry replaces the epoch: every path, queue, node, watch, timer and query of it is dropped in
// one assignment, and requests that have ended are removed with it. Requests that live are told
// Disconnected, unless they were, and then Expired. They make new nodes in the next epoch
// (epochs.txt). Nothing is cleared by hand, and no answer of the old epoch can reach the new one.
//
// # Where a change goes
//
// The file of a purpose says how a reply changes a request. Every Ask has a purpose, a plain value
// whose method answered takes the reply. Its method stale says whether nobody waits for the reply
// any more. The interface kind has the differences between kinds of locks. batch.go decides when
// changes are sent; burst.go above it delays some. leave.go decides which request holds next. When
// that is wrong, TestStories/hand_over fails, and so does TestWalk of package walk, whose tests of
// mistakes seed the ways in which it can be wrong.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        spec, query, boundary, node, path, request, state
//	primitives  emit, pause, describe, heartbeat, room, succession, batch, burst, unowned
//	waiting     wait, same_owner, cohort, listing
//	nodes       own_node, orphan, seats, max_waiters, verify, leave, retain, missing, contention, admission
//	creating    create
//	kinds       kinds
//	dispatch    order, figures, apply
//	walk        check, clone, encode
package coordinator
