// Package walk is a model checker for what Turnstile decides. It runs the real machines (package
// actors/machine) and the real coordinators (package actors/internal/coordinator), in some plans below
// the real turns of their clients (package actors/turns), on a model of ZooKeeper. Up to four lock requests in one or two sessions go through every order in which things
// can happen within the bounds of a plan. In every state it checks the invariants. Of a violation
// it tells a story, the shortest in plans that are not large. There is no code in it but tests, so
// that no program can link it.
//
// # What runs, and what is a model
//
// Machines and coordinators are the real ones. Around them stands a model of the rest:
//
//   - Shells: mailboxes, and what carries effects, outputs and inputs from one to the other.
//   - Servers: one or two lock paths with their nodes, their owners, the watches of each
//     connection, the sequence counter and the transaction number. A query takes a step for each
//     round trip on whose order something may depend.
//   - A connection that is lost and comes back, perhaps to a server that lags, and the lease.
//   - In plans that are Swept: the servers forget a watch as soon as nobody wants it.
//   - In plans with Outlives: a create or a delete that was lost with its connection, and is carried out
//     when the next is lost. In plans with Moves it comes a moment before that: the session has moved, the
//     connection is still read, and commits nothing. The deletes of a search, and writes, are not carried
//     out late.
//   - A session that lapses, and that its client gives up while it lives on at the servers, with
//     its nodes and what it had sent.
//
// Answers come in any order. Events of a connection come in theirs, and before the answers that
// follow them on the wire. The outcome of a query that was lost with its connection may come before
// the event of the loss, or long after. The end of a session takes two steps, as in ZooKeeper: the
// servers refuse it first, and delete its nodes later (CURATOR-604).
//
// There is no clock. A timer fires at any moment at which it is set. A lease is valid from an
// acknowledged transaction until it runs out, which may be at any moment. The promise of the lease
// clock is taken for granted: the servers do not end a session before its lease is over. From the
// moment at which a session lapses they may end it, even though they still commit its transactions.
// Package zkconn and tests/touches check that.
//
// # Calls
//
// In a plan with Calls the lock actors of a session are asked for by its turns. Callers call, give up
// and give back; lock actors hear what turns decide in their mailboxes, and tell turns what becomes of
// them at once. The shell of turns is part of the model: it is the state of each call and each hold.
//
// Turns are not copied. A state keeps the list of the inputs that its turns have had, and they are made
// again from that before they hear more. The fingerprint reads all their fields (print_test.go). Time
// stands still for turns but for two moves: time passes, by more than a rest and than the time of a hold,
// and a grace period ends. Transactions under a hold, bounds on waiters and refusals for want of room are
// left to the walk of package turns.
//
// A history in which turns ask for more lock actors than the plan has is not followed further. The figures
// say how many moves that cuts off.
//
// # What is left out, or coarser than reality
//
//   - Heartbeats are one move, made only where they would tell something that no lock actor is
//     about to hear.
//   - When a connection is lost, all answers on the wire are lost or none, and all queries not yet
//     carried out wait or none.
//   - In plans with HangsUp, servers hang up on any create or transaction that is lost twice in a
//     row, and on looks for orphans in plans with late creates. Pauses have no length.
//   - A node comes back from a backup only where a request of its session is still to come.
//   - No ACLs, so that nothing is refused; no exhausted counter, no deadlock probes. Of foreign
//     clients there is only what a node that came and went leaves: a number.
//   - Two lock paths at most, with one queue each. A lagging server lacks nodes that were made; it
//     never shows one that was deleted.
//   - An operator who deletes a holder's node takes its lock away before it can know. So mutual
//     exclusion, tokens and order are not checked for that request. They are for one that was
//     granted the lock by hand-over after that.
//   - A lock actor has at most four messages in its mailbox, and a holder reads its node at once.
//   - Answers and mail are read as they come, except as often as Slow and Late allow, and in plans
//     with LateAnswers.
//
// # Invariants
//
// The coordinator's own, Coordinator.Check, is called in world.tell, after every input of a
// coordinator. The others are the functions check… of invariants and call_rules, each of which says what
// it holds and is called where that may break: after an event of a machine (world.step), a move
// (world.make), an input (world.tell), when something is told, or where nothing happens by itself
// (world.checkQuiet, world.checkQuietCalls).
//
// When all states are known, the walk goes backwards from those in which all is over. Every state
// must lead to one of them by what goes on by itself and by releases alone (walker.everyoneCanEnd).
//
// # States
//
// States that behave alike are made equal. Operations are named current or stale. Numbers of
// queries and timers, and the order in which they began, are left out. Answers that can change
// nothing are dropped. A state that was reached is kept as 128 bits, with the move that led there
// first. The walk goes breadth first, so that its stories are the shortest; where very many states
// wait, it goes depth first.
//
// A new field, of what is decided with or of a state, is copied and printed by itself (package snapshot). Where it makes no
// difference, it is in a list of print_test.go, with the reason.
//
// # Reading a story
//
// A violation names the invariant, says what is wrong, and lists the moves from the start of the
// plan, one a line. A line says what happened. Behind it stands, in order, what each session heard,
// which rows of the table fired and what owners were told. The same lines in Plan.After lead a walk
// there again.
//
// # Adding a plan, a move, a mistake
//
// A plan is an entry of one of the lists in the tests. Every test run walks the first 3 000 states of
// small ones, breadth first; `make walk` walks those whole, and large ones. Give it a name, the sessions of its requests, what they ask for, and
// as few bounds as show the thing: each multiplies the states by five to twenty. A plan with LateAnswers
// has ten times the states of one without.
//
// A kind of move is a row of a table: of requests and sessions in move_kinds_test.go, of
// operators in operator_test.go, of callers and clients in call_moves_test.go.
//
// Seeded mistakes test the checker: it must find each. Every test run has those at the boundary of
// the coordinator: an output dropped, doubled or altered (boundary_test.go). `make mistakes` has
// those in its source, which go test -overlay replaces (seeded_test.go). Those of calls are in
// seeded_calls_test.go, at the boundary of turns and in their source. Each stands beside the
// plan that finds it and the invariant that it breaks.
//
// # How to run it
//
//	go test ./actors/internal/walk                                        the beginning of the small plans, and mistakes at the boundary
//	TURNSTILE_WALK=long go test -v -timeout 1h ./actors/internal/walk     all plans, whole
//	go test -tags mistakes -v -run Finds ./actors/internal/walk           mistakes in the source
//
// Plans are walked side by side, one for each processor. With the race detector a few tiny ones
// are: a walk is one goroutine.
//
// # Where to read
//
// The data say what a walk explores, and what a world knows. On them build the invariants, and the
// model of servers, shells and connections, which checks them. The moves say what can happen next;
// the walk makes each of them in each state, and tells states apart. The rest are its tests.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        calls, plan, state, world
//	invariants  call_rules, invariants, admission
//	model       servers, sessions, carry, clients, shells, connection
//	moves       move_kinds, operator, call_moves, moves
//	walk        print, fingerprint, explore
//	plans       plans, plans_after, plans_exclusive, plans_kinds, plans_admission,
//	            plans_contention, plans_faults, plans_calls
//	mistakes    seeded, seeded_calls, boundary
//	tests       race, norace; walk, mistakes, overlay
package walk
