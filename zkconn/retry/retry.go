// Package retry has the pauses after which Turnstile tries something again. Each [Policy] is for
// one kind of trouble. Pauses grow, to spare servers in trouble, and are jittered by half, so that
// clients that failed together do not come back together (thundering herd).
//
//	policy     pauses          tries        what fails                      what a pause buys
//	Vanished   5 to 200 ms     10           a new parent was reaped         the reaper passes by
//	Throttled  20 to 500 ms    for T/12     the server puts requests off    its queue drains
//	Unknown    50 to 200 ms    until ctx    a reply was lost                at most 20 requests a second
//	HungUp     0.1 to 5 s      until ctx    the server hangs up on it       fewer reconnects of all others
//	NoRoom     50 to 800 ms    6            two callers fill one session    they come apart (1)
//	Campaign   0.1 to 10 s     until ctx    a term ends at once             at most 10 campaigns a second
//	Taken      10 ms to 1 s    for 2 T      a job's lock is taken           one look a second at who has it
//	Rounds     50 ms to 5 s    until Close  no server is reached            no storm of dials (2)
//	Urgent     10 ms to T/100  lease's end  the same, while a lock is held  the lease outlasts the outage
//
// (1) Without pauses there were 12 000 tries a second. (2) WithReconnectBackoff sets the bounds.
//
// T is the session timeout. The caller knows when to stop. Jitter comes on top of the bounds, so a
// pause may be half as long again.
//
// Other pauses stand with their rules. Their jitter, if any, follows from the request or the
// session, so a history can be played again.
//
//	rule                       pauses       what fails                       what a pause buys
//	coordinator, pause.go      0.1 to 5 s   the server hangs up on an order  fewer reconnects of all others
//	coordinator, pause.go      0.1 s to T   a node is not removed            at most 10 removals a second
//	actors, lapse.go           2 T to 30 T  sessions lapse on slow servers   waiters keep their nodes
//	gateway, relay and ask.go  0.5 s        a gateway does not answer        the next one is asked soon
//
// Programs need none of this, and it may change in any version. Not internal, because package locks
// is not below package zkconn.
package retry

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/turnstile-locks/turnstile/zkconn/retry/hungup"
)

// Policy says how long the pauses are between tries.
type Policy struct {
	// First is the pause after the first failure, Longest the longest; both before the jitter.
	First, Longest time.Duration
	// Growth is the factor from one pause to the next.
	Growth float64
}

// The policies: see the package doc.
var (
	// Vanished: a new lock path is gone again, because its container was reaped.
	Vanished = Policy{5 * time.Millisecond, 200 * time.Millisecond, 1.5}
	// Throttled: the server has not carried the request out.
	Throttled = Policy{20 * time.Millisecond, 500 * time.Millisecond, 2}
	// Unknown: the outcome is unknown, or the request was not sent. Usually the next connection is
	// waited for; these pauses bound the cost where the connection stays.
	Unknown = Policy{50 * time.Millisecond, 200 * time.Millisecond, 2}
	// HungUp: the server has hung up on the same request twice in a row.
	HungUp = Policy{hungup.First, hungup.Longest, hungup.Growth}
	// NoRoom: the session has no room for one more node while two callers hold others. The jitter
	// tells them apart.
	NoRoom = Policy{50 * time.Millisecond, 800 * time.Millisecond, 2}
	// Campaign: a campaign failed, or a term as leader was over soon.
	Campaign = Policy{100 * time.Millisecond, 10 * time.Second, 1.5}
	// Taken: the lock of a job is taken, and its mark does not say by which run. A run marks itself
	// within a few round trips.
	Taken = Policy{10 * time.Millisecond, time.Second, 2}
)

// How often the bounded policies are tried. The last failure is the caller's error.
const (
	// VanishedTries is of Vanished: 0.4 s in all.
	VanishedTries = 10
	// NoRoomTries is of NoRoom: 1.6 s in all.
	NoRoomTries = 6
)

// Rounds is for the pauses between rounds in which no server could be reached.
func Rounds(first, longest time.Duration) Policy { return Policy{first, longest, 1.5} }

// Urgent is Rounds while a lease runs that must not end. timeout is the session timeout.
//
// A lease has at worst 0.23 T left. An outage of 0.2 T leaves 0.03 T of it, of which a jittered
// pause takes half.
func Urgent(timeout time.Duration) Policy {
	const shortest, pausesPerTimeout = 10 * time.Millisecond, 100
	return Policy{shortest, max(timeout/pausesPerTimeout, shortest), 1.5}
}

// Pause gives the pause after so many failures in a row, from 1, jittered by half.
func (p Policy) Pause(failures int) time.Duration {
	pauses := p.Begin()
	mean := p.First
	for n := 1; n < failures && mean < p.Longest; n++ {
		mean = time.Duration(p.Growth * float64(mean))
		pauses.Next()
	}
	return pauses.Next()
}

// Begin begins a series of pauses.
func (p Policy) Begin() *Pauses {
	return &Pauses{backoff.NewExponentialBackOff(backoff.WithInitialInterval(p.First), backoff.WithMaxInterval(p.Longest),
		backoff.WithMultiplier(p.Growth), backoff.WithRandomizationFactor(0.5), backoff.WithMaxElapsedTime(0))}
}

// Pauses is one series of pauses, for one goroutine.
type Pauses struct{ series *backoff.ExponentialBackOff }

// Next gives the next pause, jittered by half.
func (p *Pauses) Next() time.Duration { return p.series.NextBackOff() }

// Reset has the pauses begin at the shortest again.
func (p *Pauses) Reset() { p.series.Reset() }
