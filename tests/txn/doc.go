// Package txn shows transactions and reads under a lease. They are carried out while the lock is held, or not at all: also
// when they arrive late, their reply is lost, or the leader changes. A server of an earlier connection may still have one.
package txn
