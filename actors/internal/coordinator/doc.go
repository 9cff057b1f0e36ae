// Package coordinator decides what one session does for all of its lock requests. This page is its specification: the
// parts, the rules, what each rule keeps true, and which test fails when it does not.
//
// A [Coordinator] is a value. [Coordinator.Apply] takes one [Input] and gives [Output] values, in order. It has no
// connection, clock, goroutine, channel, actor or function in its state (TestStateIsData), so that its state can be
// copied, compared and printed, and package walk can run it through every order of events. The session actor in package
// actors is its shell: it feeds inputs, carries queries out on workers, and sends events on to the lock actors.
//
//	lock actor ──order──▶ ┌─────────────┐ ──ask──▶ shell ──requests──▶ ZooKeeper
//	(machine)  ◀──tell─── │ Coordinator │ ◀─reply─ shell ◀─answers────
//	                      │             │ ◀─changed, connected, disconnected, expired──
//	timers     ◀─start─── │             │ ◀─fired──
//	                      └─────────────┘
//	      requests by ID ──▶ request ─────node──▶ node {phase, name, number, token, users}
//	                            │                  ▲
//	                            └─queue──▶ queue ──┘  our nodes in the order of their numbers; local run; retained node
//	      epoch ──▶ lock path ─────────────┘          queues, what is known of the path, the listing under way, watchers
//	        ├─ batch: creates and deletes that wait for a transaction
//	        ├─ heartbeats, timers, queries that have not been answered
//	        └─ replaced whole when the ZooKeeper session ends
//
// # What is authoritative
//
// The nodes at the servers decide who holds: nothing here does. What the coordinator knows of them may be older than
// the truth in one direction only. A node that it believes to be present may be gone; a node that is there and is ours
// is known, or its request is in phase creating or unknown, so that somebody looks for it. Whether a grant may be used
// is decided by the lease, which package zkconn keeps and the shell reads at every input ([At].Lease); its rule and
// proof are there.
//
// # Inputs are believed as far as they prove something
//
//   - An order carries the epoch of what it was decided on. One of an epoch that is over is void (Stale counts it), and is not
//     answered: Expired is on its way. Orders that come while there is no connection wait for one.
//   - A reply belongs to the Ask of its ID. Replies of an old epoch find nothing. A reply that comes after its request has
//     gone on changes nothing but what is known of nodes: searches and waits have operation numbers for that.
//   - A refused query did nothing. An unknown outcome is resolved by a search for the node (Find), never by a guess, and only
//     after the create itself has come back, so that "there is none" means that none will come.
//   - A watch tells once. A disconnect ends all watches and waits; each machine finds out anew where it stands.
//
// # Requests and nodes
//
// A request has one node at a time; its phase is written at the declaration, each with its invariant. A node has one
// user while it is waited or held with, several while a hold is shared (reentry), and the one that had it while it is
// retained. The life of a request is active, ending (its owner may ask anew) or ended (its lock actor is gone). A
// request is removed when nothing of it can be left at the servers, and not before.
//
// # Rules
//
// Each has a story in testdata that reads as a trace, and plans of package walk that check what it keeps true in every
// order of events. [Coordinator.Check] has the invariants of the state; tests and the walk look at it after every
// input.
//
// Create. The first create of a lock path that is not known probes it on the way; others for the path wait for that
// (info.txt). The reply tells the token, and whether the node is alone in its queue. Invariant: one create for a
// request at a time.
//
// Group commit. While a transaction is under way creates and deletes are batched, and go together in the next. Where
// one part is refused each is asked for by itself; where the outcome is unknown it is unknown for each (batching.txt).
// Invariant: each change that was submitted is answered exactly once.
//
// Local runs. The lock is handed from a node to its neighbour of the same session without a request. Changes to a queue
// are delayed by runDelay at most, and by a fifth of it where others may wait for them (local_runs.txt). Invariant:
// where changes are delayed a timer runs that sends them.
//
// Listing. One listing serves all who asked before it was answered and whose node it shows, because nodes only ever
// vanish from before a contender (listing.txt). Invariant: nobody is told that he is nearer to the head than he is.
//
// Wait. A request waits for one node, its predecessor; the first waiter of a semaphore for all before it and for the
// number of permits (watching.txt, semaphores.txt). A predecessor of this session needs no watch: the session hears of
// its end by itself. Invariant: who waits is registered before the query that sets the watch is sent, so that no event
// is too early; a wait ends once. That is what keeps wake-ups from being lost, and a release from waking a herd.
//
// Hand-over. When a holder gives the lock back, the request whose node is right behind in this session holds at once,
// and the delete follows. Nobody can come between two neighbours; as long as either node exists nobody of another
// session is first. The delete is one transaction with a check that the node of who holds now exists: if an operator
// has deleted that one, the older node stays until its request has been told (hand_over.txt). Invariant: of nodes from
// a holder's to the one that the lock was handed to, at least one exists. A hold that is taken from its owner is never
// handed over.
//
// Look-ahead. Who waits for a node of another session that waits itself watches the one before that, too, and lists the
// queue when it goes; the grant then needs nothing but the event (look_ahead.txt). Invariant: a wait whose predecessor
// was seen at the head, and only such a one, ends with TurnCame; everybody else lists.
//
// Retained nodes. The node of a lock that was given back may stay, for the next request of this session, while nobody
// else is in the queue (retaining.txt). It is reused when a transaction that was sent after the request came has found
// it, because an operator may have deleted it (reusing.txt). Each grant has the next place of the node's token.
// Invariant: nobody holds with a retained node, the queue knows it, and it goes as soon as anybody else is seen.
//
// Cohorts. Requests of one session for one lock that ask for it share one node; those that wait for it have none
// (cohorts.txt). Each grant has the next place of the node's token; the node serves for a bounded number of grants and a
// bounded time. Invariant: where requests wait in a cohort one leads, or was told to; who waits there has no node.
//
// Readers of a cohort hold together with its node, which is shared as by an owner's requests, and have its token
// (readers.txt). Others may be let in while they read, within the bounds of a cohort, because nobody knows without a
// listing whether a writer of another session waits behind the node; where one of this session does, none is.
// Invariant: a node is shared by nobody but one owner's requests, or readers; nobody stands in the line of a node that
// has the lock, or goes.
//
// Descriptions. A node's data say who has it, and how many wait behind it in its cohort. They are written anew now and
// then, never in the way of a grant (descriptions.txt). Invariant: where they are wrong a look at them is due; a session
// writes twice in a second at most.
//
// Owners. Requests of one owner for one lock would wait for each other for ever; the second shares the hold, becomes a
// downgrade, waits, or is refused (owners.txt, downgrade.txt). Invariant: a request that has ended, or is ending, keeps
// nobody of its owner out; a shared node goes with its last user.
//
// Reclaiming. A request with a label takes over the node of an earlier process, if that is the first of the queue, by
// replacing it at its number in one transaction (reclaim.txt). Invariant: its token is known before the node is made,
// and greater than any that was held with before; so a hold with a label is never handed over.
//
// Contests. One node and no queue. Its name does not say whose it is: that is decided by session, czxid and data
// (contests.txt). Invariant: a contest's node is deleted only by who has made it.
//
// Clean-up. However a request ends, one mechanism removes what may be left, and retries until it is known to be gone or
// the epoch is over (clean_up.txt, verifying.txt). Invariant: a request that has ended has a removal that goes on, or a
// retained node. What may not be deleted at all ends the session, because it would keep everybody out.
//
// Heartbeats. While there is a node, a transaction that checks one is committed every sixth of the session timeout,
// those that are held with first. Its answer extends the lease, and tells of a node that is gone (heartbeats.txt,
// lease.txt). When a run of the lease is over everybody is told before anything else.
//
// # When the session ends
//
// An expiry replaces the epoch: every path, queue, node, watch, timer and query of it is dropped in one assignment, and
// requests that have ended are removed with it. Requests that live are told Disconnected, unless they were, and then
// Expired, and make new nodes in the next epoch (epochs.txt). Nothing is cleared by hand, and no answer of the old
// epoch can reach the new one.
//
// # Where a change goes
//
// What a reply means for a request: the file of its purpose (every Ask has one, a plain value whose method answered
// takes the reply). What differs between kinds of locks: the interface kind. When changes are sent: batch.go, and
// local_run.go above it, which delays some. Who holds next: hand_over.go; when that is wrong TestStories/hand_over
// tells, and TestWalk of package walk, whose tests of mistakes seed the ways in which it can be wrong.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        spec, query, input, output, node, request, path, queue, timer, state, registry
//	primitives  emit, describe, heartbeat, batch, local_run, submit
//	waiting     wait, cohort, listing, look_ahead, listed
//	nodes       presence, own, owner, pass_on, read_along, verify, hand_over, remove, retain, reuse, missing
//	creating    reclaim, create, committed, reclaimed
//	kinds       kinds, semaphore
//	dispatch    order, connection, figures, apply
//	walk        check, clone, encode
package coordinator
