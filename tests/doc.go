// Package tests holds the tests that need more than one package: the behaviour of locks on the
// embedded server and on real ones, under faults, beside other clients. Those on real servers need Java and
// what make deps fetches, and say so when they skip; make test lets none skip.
//
// # What is in which folder
//
//   - access: credentials, ACLs, missing permissions, TLS and chroots, on servers that enforce them.
//   - conformance: the embedded server and a real one, compared operation by operation.
//   - interop: the lock recipes of Curator and kazoo, beside ours and on the embedded server; who may share a queue.
//   - matrix: each request met by each fault, with exact outcomes; what other libraries test, and which of ours shows it.
//   - services: each ability for services under each fault, with exact outcomes.
//   - simulation: whole clients in a world that one seed decides.
//   - soak: an ensemble that keeps failing, for as long as one likes.
//   - bench: measurements beside other libraries.
//   - figures: metrics and spans.
//   - zklock, dashboard: the command and the page, as a person meets them.
//   - readme: the commands, code and links of the pages, and what package docs name.
//   - rig, child, patient, report: real servers, processes, waiting with patience, and the closing line of make test.
//
// The state machine has its own walk through every state, in actors/internal/walk.
package tests
