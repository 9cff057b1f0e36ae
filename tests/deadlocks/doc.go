// Package deadlocks tests that circles of waiters are found, on demand or because a request looks
// for them, and that exactly one member gives up. Its circles go through other processes, through
// cohorts and through semaphores.
package deadlocks
