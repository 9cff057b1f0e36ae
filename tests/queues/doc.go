// Package queues shows what is seen of a queue from outside, and done to it: who holds and who waits, asking for a lock
// back, and breaking it.
package queues
