package locks

import (
	"errors"
	"time"
)

// ChangeKind names a change of a lease.
type ChangeKind string

// The changes that WithOnChange tells.
const (
	// Suspended: the connection is down, or an answer is outstanding. The lock is ours until
	// Change.Until.
	Suspended ChangeKind = "suspended"
	// Resumed: the servers have been heard of again in time, and the lock never ceased to be ours.
	Resumed ChangeKind = "resumed"
	// RevokeRequested: somebody asks for the lock. With WithGrace it is given back by force at
	// Change.Until.
	RevokeRequested ChangeKind = "revoke requested"
	// Lost: the lock is not ours any more, and its owner had not given it back by then. Change.Err
	// says why. It is the last change.
	Lost ChangeKind = "lost"
)

// Change is one change of a lease, as WithOnChange reports it.
type Change struct {
	Kind  ChangeKind
	Lease *Lease
	// Until is the end of the lease unless it is renewed (Suspended, Resumed), or the time at which
	// the lock is given back by force (RevokeRequested; zero without WithGrace). Left is the time
	// from the change until then.
	Until time.Time
	Left  time.Duration
	// Err says why (Lost). The lease's context has the same cause, except where the loss came to light
	// only when the owner gave back, as after a pause of the process: its cause is then ErrReleased.
	Err error
}

// changed reports a change to WithOnChange, if there is one.
func (l *Lease) changed(kind ChangeKind, until time.Time) {
	if l.from.onChange == nil {
		return
	}
	change := Change{Kind: kind, Lease: l, Until: until}
	if !until.IsZero() {
		change.Left = time.Until(until)
	}
	// mu is held until the change is queued. So the loss, which is the last change, is queued behind
	// it.
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.tell(change)
	}
}

// tellLossBeforeRelease reports a loss that comes to light only with the release, as after a pause of
// the process. err is the error with which the request ended. The context has ended: where a release
// ended it, end has reported nothing.
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

// revokeRequested notes that somebody asks for the lock.
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

// tellSuspended notes that the lock is in doubt, tellResumed that it is not any more.
func (l *Lease) tellSuspended(until time.Time) {
	l.held().happened("suspended")
	l.changed(Suspended, until)
}

func (l *Lease) tellResumed(until time.Time) {
	l.held().happened("resumed")
	l.changed(Resumed, until)
}
