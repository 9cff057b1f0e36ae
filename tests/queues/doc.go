// Package queues tests how a queue is read and changed from outside: who holds and who waits,
// revoke requests, and breaking a lock.
package queues
