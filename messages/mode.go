package messages

// Mode is the kind of lock that is asked for.
type Mode uint8

const (
	// Exclusive is a lock that one contender holds at a time. It is the zero value.
	Exclusive Mode = iota
	// Read shares the lock with other readers; it waits for the writers before it.
	Read
	// Write is exclusive in a queue of readers and writers; its holder may take the read lock at its
	// own place and so give up writing with nobody in between.
	Write
	// Semaphore takes one or more of a number of permits.
	Semaphore
	// Contest is a single ephemeral node at the lock path, and its maker holds. There is no queue and
	// no order.
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

// Known tells whether there is such a mode.
func (m Mode) Known() bool { return int(m) < len(modeNames) }

// Naming says which library's names the nodes of a queue have, so that programs with that library
// can share it.
type Naming uint8

const (
	// CuratorNaming is that of Curator's InterProcessMutex and InterProcessReadWriteLock, and of
	// go-zookeeper's Lock: _c_<guid>-lock-, _c_<guid>-__READ__, _c_<guid>-__WRIT__. It is the zero value.
	CuratorNaming Naming = iota
	// KazooNaming is that of kazoo's Lock, ReadLock and WriteLock: <guid>__lock__, <guid>__rlock__.
	KazooNaming
	// RecipeNaming is that of the recipes in ZooKeeper's documentation: <guid>-lock-, <guid>-read-,
	// <guid>-write-.
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

// Known tells whether there is such a naming.
func (n Naming) Known() bool { return int(n) < len(namingNames) }
