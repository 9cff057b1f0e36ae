// Package metering counts and times lock requests and sessions, as OpenTelemetry metrics. A session
// has figures when it is given a MeterProvider: actors.WithMeterProvider, locks.WithMeterProvider
// or protoactor's WithMetricProviders. Instruments are told on a goroutine of their own (package
// told); a collection waits for what was measured before it, for a second at most.
//
// # Instruments
//
// Names, units and attributes follow the semantic conventions of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/general/metrics/). The scope is [Scope]. In
// Prometheus dots become underscores, seconds are added as _seconds, and counters end with _total:
// turnstile_lock_grants_total.
//
//	| name                              | kind          | unit           | attributes                                     | meaning |
//	|-----------------------------------|---------------|----------------|------------------------------------------------|---------|
//	| turnstile.lock.acquire.duration   | histogram     | s              | turnstile.lock.mode, error.type                | from asking for a lock until it is held, or the request has given up |
//	| turnstile.lock.hold.duration      | histogram     | s              | turnstile.lock.mode, turnstile.lock.reason     | from the grant until the lock is given back or lost |
//	| turnstile.lock.handoff.duration   | histogram     | s              | turnstile.lock.mode, turnstile.lock.handoff    | from the end of the one before until the lock is held |
//	| turnstile.lock.held               | updowncounter | {lock}         | turnstile.lock.mode                            | locks that are held now |
//	| turnstile.lock.waiting            | updowncounter | {request}      | turnstile.lock.mode                            | requests that wait for their lock now |
//	| turnstile.lock.grants             | counter       | {grant}        | turnstile.lock.mode                            | locks that were granted |
//	| turnstile.lock.losses             | counter       | {loss}         | turnstile.lock.mode, turnstile.lock.reason     | locks that were held and lost |
//	| turnstile.lock.revocations        | counter       | {revocation}   | turnstile.lock.mode, turnstile.lock.revocation | holds that somebody asked for, and that were ended by force |
//	| turnstile.lock.recoveries         | counter       | {recovery}     | turnstile.lock.mode, turnstile.cause           | requests that had to find out where they stand |
//	| turnstile.session.count           | updowncounter | {session}      | turnstile.session.state                        | sessions that are in a state now |
//	| turnstile.session.lease.remaining | gauge         | s              |                                                | how long the leases of a session that holds locks last unless it hears of the ensemble; of several sessions, the least |
//	| turnstile.session.interruptions   | counter       | {interruption} | turnstile.cause                                | what came between sessions and their servers |
//	| turnstile.session.batches         | counter       | {batch}        |                                                | creates and deletes that were sent, those that share a transaction as one |
//	| turnstile.session.batch.size      | histogram     | {operation}    |                                                | creates and deletes that were sent together |
//	| turnstile.session.weight          | updowncounter | By             |                                                | what the ephemeral nodes of sessions weigh in the transactions that end them |
//	| turnstile.session.inside          | updowncounter | {request}      |                                                | requests that wait inside their session, without a node |
//
// # Attributes
//
// Every attribute has few values: [Values] lists them. A lock path is never an attribute: for
// figures of groups of paths see actors.WithMeterLabels. Figures of sessions have no labels.
//
//   - turnstile.lock.mode: exclusive, read, write, semaphore, contest.
//   - error.type: the reason why a request gave up; absent when it got its lock.
//   - turnstile.lock.reason: the reason why a hold ended. It is a [messages.Reason] in one word:
//     released, owner_gone, stopped, revoked, session_expired, session_closed, lease_over,
//     node_deleted and others: see [Reason].
//   - turnstile.lock.handoff: local where the holder before was of the same session, and remote
//     otherwise. A local one is timed from when that holder's lock actor asked to give the lock
//     back, or else from when the session knew that its node is gone. A remote one is timed from
//     the event of the server.
//   - turnstile.lock.revocation: asked, and forced when the grace period has run out.
//   - turnstile.cause, of a recovery: disconnected, silent (a heartbeat was not answered),
//     unknown_outcome, node_gone, not_listed, late_grant (the lease had run out when the lock was
//     granted), other. Of an interruption: disconnected, silent, expired.
//   - turnstile.session.state: connecting (there has been no connection in this epoch), connected, disconnected.
//
// Every request is counted, and so is each further lease of one hold (locks.WithReentry,
// Lease.Downgrade): as a grant, as held, and by its own times. A sticky lock that is kept is held
// by nobody.
//
// Grants, losses by their usual reasons, revocations and interruptions are exported as 0 before
// there is any, so that an alert on an increase sees the first.
//
// # Cost
//
// Attribute sets are made when a mode or a label is first seen; later measurements allocate nothing
// here. Benchmark: go test -run '^$' -bench Metered -benchmem ./actors.
package metering
