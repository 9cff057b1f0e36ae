// Package tests is the root of the tests that need more than one package. They show the behaviour of locks on the
// embedded server and on real ones, under faults, beside other clients. Those on real servers need Java and
// what make deps fetches, and say so when they skip; make test deselects them, and make test-all lets none skip.
//
// # What is in which folder
//
// Behaviour, on an embedded server, and where servers may differ on a real one and an ensemble of three:
//
//   - kinds: how each kind of lock grants: mutexes, readers and writers, semaphores, cohorts, several locks at once.
//   - leases: what a holder hears, and when: cuts, silence, outages, suspended machines.
//   - queues: who holds and who waits, revoke requests, and breaking a lock.
//   - deadlocks: circles of waiters, and who gives up.
//   - elections: leader loops, campaigns, contests, groups.
//   - runonce: jobs that run once in a period, or for each instant of a schedule.
//   - txn: transactions and reads under a lease.
//   - restarts: processes that were killed and servers that come back: session files, reclaimed locks.
//   - refusals: what servers and Turnstile refuse, and how errors say it.
//   - faces: what is the same through package locks, lock actors and a gateway: grants, releases, revoke requests, and the
//     faults of one request.
//   - actors: what only lock actors have: parents, owners, ends from outside, and lock paths.
//
// Suites with a method of their own:
//
//   - access: credentials, SASL, ACLs, missing permissions, TLS and chroots, on servers that enforce them.
//   - conformance: the embedded server and a real one, compared operation by operation.
//   - interop: the lock recipes of Curator and kazoo beside ours; who may share a queue.
//   - matrix: each request met by each fault, with exact outcomes.
//   - simulation: whole clients in a world that one seed decides.
//   - steady: that nothing grows: each exported operation done n and 4 n times, locks held for a day and for four.
//   - soak: an ensemble that keeps failing, for as long as one likes.
//   - bench: measurements beside other libraries.
//   - figures: metrics and spans.
//   - zklock, dashboard: the command and the page, as a person meets them.
//   - readme: the commands, code and links of the pages, and what package docs name.
//
// Their helpers:
//
//   - rig: real servers, other processes, and what cuts them off.
//   - scene: servers shared by a package, virtual time, clients, waiters and lock actors, and who judges them.
//   - layers: that the files of a package build on each other as its doc says.
//   - snapshot: values of any type, copied, printed and searched; asks: every field of a request.
//   - report: the closing line of make test.
//
// The state machine has its own walk through every state, in actors/internal/walk.
package tests
