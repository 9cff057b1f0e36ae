package locks

import (
	"context"
	"errors"
	"time"
)

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
	if l.from.onChange == nil && l.from.onLost == nil {
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
	if l.from.onChange != nil {
		l.from.client.changes.tell(func() { l.from.onChange(change) })
	}
	if l.from.onLost != nil && change.Kind == Lost {
		l.from.client.changes.tell(func() { l.from.onLost(l.Path(), change.Err) })
	}
}

// asked notes that somebody asks for the lock.
func (l *Lease) asked(force time.Time) {
	l.span.happened("revoke requested")
	l.mu.Lock()
	if !l.wanted && l.revoked != nil {
		close(l.revoked)
	}
	l.wanted = true
	l.mu.Unlock()
	l.changed(RevokeRequested, force)
}

// suspended notes that the lock is in doubt, resumed that it is not any more.
func (l *Lease) suspended(until time.Time) {
	l.span.happened("suspended")
	l.changed(Suspended, until)
}

func (l *Lease) resumed(until time.Time) {
	l.span.happened("resumed")
	l.changed(Resumed, until)
}
