// Package deadlocks shows who is found in a circle of waiters, on demand or because a request looks for it, and that
// exactly one gives up. Its circles go through other processes, through cohorts and through semaphores.
package deadlocks
