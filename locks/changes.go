package locks

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// ChangeKind names a change of a lease, or of the wait for it.
type ChangeKind string

const (
	// Waiting: the Lock waits for Change.Behind, the contender before it. It comes once that one's
	// node has been read, and again when another is before it, or when what the node says changes, as
	// after a revoke request. What is not told yet when Lock has its answer is dropped, and what comes
	// while 16384 changes wait for a slow function. It does not come WithWatchAll.
	//
	// Of calls of one client that wait for one node (WithCohort, WithMaxWaiting) the first is told who
	// is before that. The others are told, when they begin to wait, which call of the client has the
	// node or asks for it, and not when it passes from one to the other.
	Waiting ChangeKind = "waiting"
	// Suspended: the connection is down or an answer outstanding. The lock is ours until
	// Change.Until.
	Suspended ChangeKind = "suspended"
	// Resumed: the servers answered in time, and the lock was ours all the while.
	Resumed ChangeKind = "resumed"
	// RevokeRequested: somebody asks for the lock. WithGrace gives it back by force at
	// Change.Until.
	RevokeRequested ChangeKind = "revoke requested"
	// Lost: the lock was lost before its owner gave it back: see Change.Err. The last change.
	Lost ChangeKind = "lost"
)

// Change is one change of a lease, or of the wait for it.
type Change struct {
	Kind ChangeKind
	// Lease is nil for Waiting.
	Lease *Lease
	// Behind has what the contender's node says (Waiting): see Error.Behind.
	Behind messages.Contender
	// Until is the end of the lease unless renewed (Suspended, Resumed), or when it is released by
	// force (RevokeRequested; zero without WithGrace). Left is the time until then.
	Until time.Time
	Left  time.Duration
	// Err is the cause of the lease's context (Lost): ErrReleased where the loss came to light only
	// when the owner gave back, as after a pause of the process.
	Err error
}

func (l *Lease) changed(kind ChangeKind, until time.Time) {
	if l.from.onChange == nil {
		return
	}
	change := Change{Kind: kind, Lease: l, Until: until}
	if !until.IsZero() {
		change.Left = time.Until(until)
	}
	// mu is held until the change is queued, so that the loss is queued behind it.
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.tell(change)
	}
}

// tellLossBeforeRelease reports a loss that comes to light only with the release, which has ended
// the context.
func (l *Lease) tellLossBeforeRelease(err error) {
	if !errors.Is(err, ErrLost) || !errors.Is(l.why(), ErrReleased) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(Change{Kind: Lost, Lease: l, Err: err})
}

// tell queues a change; l.mu is held.
func (l *Lease) tell(change Change) {
	if l.from.onChange != nil {
		l.from.client.changes.Tell(func() { l.from.onChange(change) })
	}
	if l.from.onLost != nil && change.Kind == Lost {
		l.from.client.changes.Tell(func() { l.from.onLost(l.Path(), change.Err) })
	}
}

func (l *Lease) revokeRequested(force time.Time) {
	l.held().happened("revoke requested")
	l.mu.Lock()
	if !l.asked && l.revoked != nil {
		close(l.revoked)
	}
	l.asked = true
	l.mu.Unlock()
	l.changed(RevokeRequested, force)
}

func (l *Lease) tellSuspended(until time.Time) {
	l.held().happened("suspended")
	l.changed(Suspended, until)
}

func (l *Lease) tellResumed(until time.Time) {
	l.held().happened("resumed")
	l.changed(Resumed, until)
}
