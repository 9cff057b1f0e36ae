package locks

import (
	"context"
	"errors"
	"time"
)

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

// WithOnChange calls a function when something happens to a lease of the lock: it is in doubt, it
// goes on, somebody asks for it, or it is lost. Use it to slow down, to write a log, or to prepare
// for the end; the lease's context is what ends work.
//
// Calls come in the order of what happened, one at a time for all locks of a client, on a goroutine of their own: a
// function that is slow delays later calls, and nothing else. It may call anything of this package, but for what
// waits for a later call; see "What callbacks may do" in the package doc. Client.Close does not wait for calls, which
// may come after it has returned: that of the loss does.
func WithOnChange(tell func(Change)) LockOption { return func(l *lock) { l.onChange = tell } }

// changed tells of a change, if anybody wants to know.
func (l *Lease) changed(kind ChangeKind, until time.Time) {
	if l.from.onChange == nil {
		return
	}
	change := Change{Kind: kind, Lease: l, Until: until}
	if !until.IsZero() {
		change.Left = time.Until(until)
	}
	// With the lock until it is queued: the loss is queued behind it then, for the loss is the last change.
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.tell(change)
	}
}

// tellLoss has the loss of the lease told when it comes.
func (l *Lease) tellLoss() {
	if l.from.onChange == nil {
		return
	}
	context.AfterFunc(l.ctx, func() {
		cause := context.Cause(l.ctx)
		if errors.Is(cause, ErrReleased) {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tell(Change{Kind: Lost, Lease: l, Err: cause})
	})
}

// tell queues a change; l.mu is held.
func (l *Lease) tell(change Change) {
	l.from.client.changes.tell(func() { l.from.onChange(change) })
}
