package messages

import (
	"time"
)

// Acquire describes the request of a lock actor.
type Acquire struct {
	// Path is the lock path: absolute, the parent znode of the queue; that of a contest is the node
	// itself.
	Path string
	// Mode is the kind of lock.
	Mode Mode
	// Name tells several queues in one lock path apart, as recipes do whose nodes are called
	// name_lock_sequence. Empty is the queue without a name.
	Name string
	// Naming is the library whose node names are used. A queue with a Name has names of its own.
	Naming Naming
	// Permits is the number of permits that the semaphore has, Weight the number that is asked for;
	// 0 means one. Both are for Mode Semaphore only.
	Permits, Weight int
	// WatchAll watches the whole lock path while waiting, instead of the predecessor: see
	// locks.WithWatchAll.
	WatchAll bool
	// Timeout ends the request when it does not hold after this long; zero means never.
	Timeout time.Duration
	// Try gives up at once when somebody else is before the request.
	Try bool
	// Grace is how long the holder keeps the lock after somebody has asked for it; then it is
	// released by force. Zero: the owner is told of the request, and nothing else happens.
	Grace time.Duration
	// Beside makes this request a downgrade: it takes the read lock at the place of the writer
	// whose node it names (Grant.Node), with nobody in between. It is for Mode Read, of the same
	// lock path and name. The writer must hold in the same session, or over the same gateway from
	// the same node; otherwise the request fails with ReasonHoldGone.
	Beside string
	// Owner names the owner of the request to searches for deadlocks, and to people. Empty means
	// the actor that spawned the lock actor. An owner that asks for a lock which it has waits for
	// itself.
	Owner string
	// Caller names the caller that is blocked while this request waits. It links requests for
	// several locks, and so a deadlock is found. Empty means Owner.
	Caller string
	// Deadlocks says whether the request looks for deadlocks while it waits. If it is the youngest
	// in one, it gives up: Deadlocked is told, and Cancelled with ReasonDeadlock.
	Deadlocks Detection
	// Label is for people who look at the queue.
	Label string
	// Reclaim is a key, with which a restarted process takes back the lock that it held before: see
	// locks.WithReclaim. It has no effect without actors.WithSessionFile.
	Reclaim string
	// Priority is a candidate's priority in an election, zero or more. It does not change the order
	// of the queue.
	Priority int
	// TellMore has the lock actor tell Waiting and Watched, too; its node is read as soon as it
	// holds, and its queue always listed. Over a gateway, WatchContention and Check need it, too.
	TellMore bool
}

// Release gives the lock back. Before it is held it means Cancel. Sending it again changes nothing.
type Release struct{}

// Cancel ends a request that is no longer wanted; its node is deleted before it ends. One that
// holds gives the lock back.
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
// contender is in its queue. It lists the queue, and again after each change of the lock path.
// Suspended ends it: after Resumed, send it anew. Others ignore it.
type WatchContention struct{}

// Check asks a lock actor that holds to have a committed transaction check that its node exists:
// Checked, or Lost where it is gone, or Suspended where nobody knows. A second one replaces one
// under way. A lock actor that does not hold, or is suspended, ignores it.
type Check struct{}

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
	// its own place, with nobody in between.
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

// Naming says which library's names the nodes of a queue have, so that programs with that library
// can share it.
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
