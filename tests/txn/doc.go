// Package txn shows transactions and reads under a lease. They are carried out while the lock is held, or not at all: also
// when they arrive late, their reply is lost, a server of an earlier connection still has them, or the leader changes.
package txn
