package locks

import "time"

// ChangeKind is what has happened to a lease.
type ChangeKind string

// The changes that WithOnChange tells.
const (
	// Suspended: the connection is down, or an answer is outstanding. The lock is ours until Change.Until.
	Suspended ChangeKind = "suspended"
	// Resumed: the servers have been heard of again in time, and the lock never ceased to be ours.
	Resumed ChangeKind = "resumed"
	// RevokeRequested: somebody asks for the lock. With WithGrace it is given back by force at Change.Until.
	RevokeRequested ChangeKind = "revoke requested"
	// Lost: the lock is not ours any more, and its owner has not given it back. Change.Err says why. It
	// is the last change.
	Lost ChangeKind = "lost"
)

// Change is something that has happened to a lease.
type Change struct {
	Kind  ChangeKind
	Lease *Lease
	// Until is when the lease ends unless it is renewed (Suspended, Resumed), or when the lock is given
	// back by force (RevokeRequested; zero without WithGrace). Left is how far off it was when the
	// change happened.
	Until time.Time
	Left  time.Duration
	// Err is the cause of the lease's context (Lost).
	Err error
}
