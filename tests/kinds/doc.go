// Package kinds shows how each kind of lock grants: mutexes, readers and writers, semaphores, several locks at once, locks
// by key and by name. Nodes that serve more than one request are here, too: cohorts, sticky locks, reentry.
//
// TestWakes counts the waiters that a release wakes: no thundering herd.
package kinds
