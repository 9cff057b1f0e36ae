package coordinator

import "github.com/turnstile-locks/turnstile/actors/machine"

// TimerKind tells what a timer is for.
type TimerKind uint8

// The kinds of timers.
const (
	NoTimer TimerKind = iota
	// CreatesTimer sends creates that were delayed, DeletesTimer deletes.
	CreatesTimer
	DeletesTimer
	// ReadTimer reads the nodes of holders.
	ReadTimer
	// RetryTimer removes what could not be removed yet.
	RetryTimer
	// RetentionTimer lets a retained node go.
	RetentionTimer
	// BeatTimer is that of the next heartbeat, LateTimer of one without an answer.
	BeatTimer
	LateTimer
	// LeaseTimer checks the lease.
	LeaseTimer
	// SearchTimer searches for a node once more.
	SearchTimer
	// CohortTimer ends a cohort.
	CohortTimer
	// DescribeTimer looks at what nodes say.
	DescribeTimer
	// PauseTimer ends the pause of a request.
	PauseTimer
	// WatchTimer ends the belief in the watch of a lock path.
	WatchTimer
)

// timer is what a timer is for, and for whom.
type timer struct {
	kind TimerKind
	operation
	// path and queue are of the local run whose changes are delayed, or of the cohort; path also that of a watch.
	path, queue string
	// do is the kind of orders of which a pause ends.
	do machine.Do
}
