package messages

// Queries to a session actor, each with the message that answers it. While the session is not
// connected they wait, except for ReadInside. Paths are as in Acquire; roots may be "/", too.
type (
	// ReadQueue asks for the contenders of a lock path. Queue answers it. With PermitsOnly only the
	// number of a semaphore's permits is read, and the Queue has no Contenders.
	ReadQueue struct {
		Path        string
		PermitsOnly bool
	}
	// ReadLocks asks for the locks below a root. LockTree answers it.
	ReadLocks struct{ Root string }
	// FindMissing asks whether a path exists: a mistyped path or chroot looks like an empty queue.
	// MissingFound answers it.
	FindMissing struct{ Path string }
	// ReadInside asks for the requests of the session itself that wait without a node, at a root
	// and below. No server knows of them. Inside answers it at once.
	ReadInside struct{ Root string }
	// SendRevokeRequest asks the holders of a lock to give it back. RevokeRequestSent answers it.
	// Of, where it has a node, is the only one asked, while the node is its own.
	SendRevokeRequest struct {
		Path string
		Of   Contender
	}
	// Break deletes a contender's node by force. Broken answers it. A living Turnstile holder is
	// told Lost at once. Until then its work runs beside the next holder's: only fencing tokens
	// protect resources. A waiter queues again, if its request allows.
	Break struct{ Contender Contender }
	// SetPermits sets the number of permits of a semaphore, and makes a missing lock path.
	// PermitsSet answers it.
	SetPermits struct {
		Path    string
		Permits int
	}
	// FindDeadlocks asks for the deadlocks among the locks below a root; with Possible, for
	// possible ones too. DeadlocksFound answers it.
	FindDeadlocks struct {
		Root     string
		Possible bool
	}
)

// Refusal says why a query was not answered; its Reason is ReasonNone where it was.
type Refusal struct {
	Reason Reason
	Detail string
}

// Queue answers ReadQueue with the contenders of each named queue, in order: none where the lock
// path does not exist.
type Queue struct {
	Refusal
	Path       string
	Contenders []Contender
	// Permits is the number at the lock path, where there are contenders for permits, or only it is
	// asked for; zero where there is none.
	Permits int
}

// LockTree answers ReadLocks.
type LockTree struct {
	Refusal
	Root string
	// Locks are the lock paths that have contenders, sorted.
	Locks []LockCount
	// Unread lists the nodes that could not be read. Locks below them are missing from the answer.
	Unread []Unread
	// Truncated: there is more below the root than is read at once.
	Truncated bool
}

// MissingFound answers FindMissing.
type MissingFound struct {
	Refusal
	Path string
	// Missing is the uppermost missing node on the way to Path, "/" for the chroot; "" where Path
	// exists. The first lock makes a lock path; servers delete it some time after the last.
	Missing string
}

// Inside answers ReadInside. A request waits without a node for the holder of a contest, without a
// connection, and for queries that precede its node; a call of package locks also in a cohort, for
// room, and for another call of its owner.
type Inside struct {
	Refusal
	Root string
	// Waiting are the first 100, in the order in which they asked, with an ID and no Node.
	Waiting []Contender
	// All counts all of them.
	All int
}

// LockCount says how many contend for a lock.
type LockCount struct {
	// Path is the lock path; Name tells its queues apart; Contest: it is one.
	Path, Name string
	Contest    bool
	// Holders and Waiters count the contenders with nodes that hold and that wait; for others see
	// ReadInside.
	Holders, Waiters int
	// Permits is a semaphore's number of permits, and Taken what its holders have of them. Holders that
	// came in by a greater number, and do not fit any more, count as waiters here: ReadQueue tells.
	Permits, Taken int
}

// Unread is a node that could not be read, and why.
type Unread struct {
	Path string
	Refusal
}

// RevokeRequestSent answers SendRevokeRequest. Asked has the holders that were asked. Where one's
// node may not be written, Reason says so, and Asked has the others.
type RevokeRequestSent struct {
	Refusal
	Path  string
	Asked []Contender
}

// Broken answers Break. Reason is ReasonGone where the node was gone.
type Broken struct {
	Refusal
	Contender Contender
}

// PermitsSet answers SetPermits. Holders go on; waiters and later requests go by the new number.
type PermitsSet struct {
	Refusal
	Path    string
	Permits int
}

// DeadlocksFound answers FindDeadlocks. All nodes of each deadlock were there at one moment of the
// query. Unreadable nodes are skipped. Of requests that all wait for each other, at most 64 circles
// are told.
type DeadlocksFound struct {
	Refusal
	Root      string
	Deadlocks []Deadlock
	// Possible are the circles that are deadlocks if, in each member process (Member.Who), the
	// holder is blocked while the other request waits; with several workers it may not be. They
	// lasted for 1.25 s. Circles with a member of Deadlocks are left out.
	Possible []Deadlock
}

// Follow asks a session actor to tell who contends for a lock. The sender gets a Queue at once and
// after every change and reconnect, until it ends or sends Unfollow; also after a change of the data of
// a Mutex's holder, such as a revoke request. A Queue with a Reason is the last: SessionClosed, or the
// lock path may not be read. With PermitsOnly it is told as ReadQueue says, after changes of the number.
//
// Each follower costs a watch on the lock path and a read of the whole queue at every change (herd
// effect). The watch goes within a session timeout of the last follower's end.
type Follow struct {
	Path        string
	PermitsOnly bool
}

// Unfollow ends each Follow of the same path.
type Unfollow struct{ Path string }
