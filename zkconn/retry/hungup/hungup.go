// Package hungup has the pauses of a request on which the servers hang up. It is pure: package
// retry, whose policy HungUp jitters them at random, and the coordinator, whose jitter follows from
// the request, share it. No version promises that it stays as it is.
package hungup

import "time"

// First is the first pause and Longest the longest, before the jitter. A request that is sent again
// every five seconds costs the others of its session a reconnect in that time, some milliseconds.
const (
	First   = 100 * time.Millisecond
	Longest = 5 * time.Second
)

// Growth is the factor from one pause to the next.
const Growth = 2
