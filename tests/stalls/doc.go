// Package stalls attacks the lease rule on real servers: that of all leases of a lock path one at most is
// valid at any instant. A link between members stalls in one direction until sessions expire. A server
// with a slow log ends many sessions, and clients reconnect meanwhile. Or somebody else closes a holder's
// session, or breaks its node.
//
// An overlap is counted only when it is certain. A hold is known to be valid at an instant when the clock is
// read first and Lease.Valid is true afterwards, since a lease that is over stays over. Two holds overlap
// when there is an instant that lies between the first and the last such instant of both. Every pair of
// holds of a lock path is compared.
//
// A test fails where tokens are out of order, a request is not granted within a minute of the fault's end,
// or a waiter finds by listing again what no event told it. Leases that are lost are no failures: a machine
// under load loses some. What the tests log has the longest time for which two leases were valid;
// locks/LIMITS.md has it for sessions and nodes that somebody else ends. Flags make the tests longer.
//
// How long an outage a lease survives is shown by package leases beside this one. Package soak has the
// same faults, and more, for as long as one likes.
package stalls
