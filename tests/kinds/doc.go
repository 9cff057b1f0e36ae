// Package kinds shows how each kind of lock grants: mutexes, readers and writers, semaphores, several locks at once, locks
// by key and by name. Nodes that serve more than one request are here, too: cohorts, sticky locks, reentry.
//
// Some tests count what a release wakes, by the watch events on the wire: no thundering herd.
package kinds
