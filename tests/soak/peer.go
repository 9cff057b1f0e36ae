package main

import (
	"context"
	"errors"
	"time"
)

// peer is a client of somebody's locks.
type peer interface {
	// Lock waits until the lock is held. One that cannot give up ignores ctx.
	Lock(ctx context.Context, w want) (hold, error)
	// SessionsLost counts the sessions that expired.
	SessionsLost() int
	// Polls counts the waiters that found out only by looking again that the lock was theirs; always 0 where
	// that is not known.
	Polls() int
	Close(ctx context.Context) error
}

// hold is a lock that is held, or was.
type hold interface {
	Token() int64
	// Node is the name of the contender's node; "" where it is not known.
	Node() string
	// Valid reports whether it is believed to be held now.
	Valid() bool
	// Deadline is the time at which that ends unless something is heard; zero without a deadline.
	Deadline() time.Time
	// Done is closed when it is known to be lost.
	Done() <-chan struct{}
	Unlock(ctx context.Context) error
}

// errLost is wrapped by a peer's own error when Unlock finds that the lock was lost.
var errLost = errors.New("the lock was lost")

// deadlineInstant is the hold's deadline as an instant that other processes understand; 0 for none.
func deadlineInstant(h hold) int64 {
	deadline := h.Deadline()
	if deadline.IsZero() {
		return 0
	}
	// now is read first: time that passes in between makes the deadline earlier, never later.
	at := now()
	return at + int64(time.Until(deadline))
}
