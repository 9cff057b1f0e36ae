package messages

import (
	"time"
)

// Acquire describes the request of a lock actor.
type Acquire struct {
	// Path is the lock path: the parent znode of the queue, or the node of a contest. Absolute.
	Path string
	// Mode is the kind of lock.
	Mode Mode
	// Name tells queues in one lock path apart, as recipes do whose nodes are called
	// name_lock_sequence.
	Name string
	// Naming says whose node names are used. A queue with a Name has names of its own.
	Naming Naming
	// Permits is how many permits a new semaphore has. At a lock path that has a number, that number
	// counts: see SetPermits. Weight is how many are asked for; 0 means one. Both are for Mode
	// Semaphore.
	Permits, Weight int
	// ExactPermits fails the request with ReasonPermits where the lock path has another number when
	// it comes.
	ExactPermits bool
	// WatchAll watches the whole lock path, not the predecessor: see locks.WithWatchAll.
	WatchAll bool
	// Timeout ends the request if it does not hold by then; zero means never.
	Timeout time.Duration
	// Try gives up at once when another contender is before the request.
	Try bool
	// Grace is how long the holder keeps the lock after it was asked to give it back; then it is
	// released by force. Zero: the owner is told, and nothing else happens.
	Grace time.Duration
	// Beside makes this request (Mode Read, same lock path and name) a downgrade: it takes the read
	// lock at the place of the writer whose node it names (Grant.Node). Unless the writer holds in
	// the same session, or over the same gateway from the same node, the request fails with
	// ReasonHoldGone.
	Beside string
	// Owner names the owner, for deadlock searches and for people. Empty means the actor that
	// spawned the lock actor. An owner that asks for a lock which it has waits for itself.
	Owner string
	// Caller names the caller that is blocked while this request waits: deadlocks are found by it.
	// Empty means Owner.
	Caller string
	// Deadlocks has the request look for deadlocks while it waits. The youngest in one gives up:
	// Deadlocked, then Cancelled with ReasonDeadlock.
	Deadlocks Detection
	// Label is for people who look at the queue.
	Label string
	// Reclaim is the key by which a restarted process takes its lock back: see locks.WithReclaim.
	// It needs actors.WithSessionFile.
	Reclaim string
	// Priority is a candidate's priority in an election, zero or more. It does not change the order
	// of the queue.
	Priority int
	// TellMore has the lock actor tell Waiting and Watched, too: it always lists its queue, and
	// reads its node as soon as it holds. Over a gateway, WatchContention and Check need it, and the
	// request has a hold of its own: it shares it itself.
	TellMore bool
}

// Release gives the lock back. Before the grant it means Cancel. It is idempotent.
type Release struct{}

// Cancel ends a request; its node is deleted first. A holder gives the lock back.
type Cancel struct {
	// Reason is told as that of Cancelled, and counted by the figures. ReasonNone stands for
	// ReasonCancelled.
	Reason Reason
}

// IgnoreDeadLetterLogging keeps it out of the log.
func (Release) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (Cancel) IgnoreDeadLetterLogging() {}

// Revoke asks the holder to give the lock back: the owner is told RevokeRequested. A request that
// does not hold ignores it.
type Revoke struct{}

// WatchContention asks a lock actor that holds an exclusive lock to tell Contended once another
// contender is in its queue. It lists the queue after each change of the lock path. Suspended ends
// it: send it anew after Resumed.
type WatchContention struct{}

// Check asks a lock actor that holds to check its node in a committed transaction. It tells
// Checked, Lost if the node is gone, or Suspended if nobody knows. A second Check replaces one
// under way. While suspended, or without the lock, it is ignored.
type Check struct{}

// Observe makes its sender an observer of a lock actor, as actors.WithObserver does. It is told the
// current state first, as a [Transition] from StateNone, and then what follows. Send it with
// ctx.Request; a lock actor that has ended answers with *actor.DeadLetterResponse. A sender on another
// node is ignored.
type Observe struct{}

// IgnoreDeadLetterLogging keeps it out of the log.
func (Observe) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (WatchContention) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (Check) IgnoreDeadLetterLogging() {}

// Mode is the kind of lock that is asked for.
type Mode uint8

const (
	// Exclusive is a lock that one contender holds at a time.
	Exclusive Mode = iota
	// Read shares the lock with other readers; it waits for the writers before it.
	Read
	// Write is exclusive in a queue of readers and writers. Its holder may take the read lock at
	// its own place.
	Write
	// Semaphore takes one or more of a number of permits.
	Semaphore
	// Contest is a single ephemeral node at the lock path, and its maker holds. There is no order.
	Contest
)

var modeNames = [...]string{"exclusive", "read", "write", "semaphore", "contest"}

// String gives the mode's name.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// Known reports whether there is such a mode.
func (m Mode) Known() bool { return int(m) < len(modeNames) }

// Naming says whose names the nodes have, so that programs with that library can share the queue.
type Naming uint8

const (
	// CuratorNaming has the names of Curator's InterProcessMutex and InterProcessReadWriteLock, and
	// of go-zookeeper's Lock: _c_<guid>-lock-, _c_<guid>-__READ__, _c_<guid>-__WRIT__.
	CuratorNaming Naming = iota
	// KazooNaming has the names of kazoo's Lock, ReadLock and WriteLock: <guid>__lock__,
	// <guid>__rlock__.
	KazooNaming
	// RecipeNaming has the names of the recipes in ZooKeeper's documentation: <guid>-lock-,
	// <guid>-read-, <guid>-write-.
	RecipeNaming
)

var namingNames = [...]string{"curator", "kazoo", "recipe"}

// String gives the naming's name.
func (n Naming) String() string {
	if int(n) < len(namingNames) {
		return namingNames[n]
	}
	return "unknown"
}

// Known reports whether there is such a naming.
func (n Naming) Known() bool { return int(n) < len(namingNames) }
