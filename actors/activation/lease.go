package activation

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrOver: the lock is lost, was given back, or was never had. The cause of Lease.Context wraps it.
var ErrOver = errors.New("turnstile: the lock of the actor is over")

// Lease is the lock of an actor that is being served. Its methods may be called from any goroutine.
type Lease struct {
	held   *messages.Held
	clock  *zkconn.LeaseClock
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newLease(held *messages.Held, clock *zkconn.LeaseClock) *Lease {
	l := &Lease{held: held, clock: clock}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Path is the lock path.
func (l *Lease) Path() string { return l.held.Path }

// Token is the fencing token.
func (l *Lease) Token() messages.Token { return l.held.Token }

// Valid tells whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused. Once false it stays false.
func (l *Lease) Valid() bool { return l.ctx.Err() == nil && l.clock.Unbroken(l.held.Run) }

// Context ends when the lock is lost, taken by force, or given back. context.Cause wraps ErrOver.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline is when the lease ends unless it is renewed; it moves on all the time while it is.
func (l *Lease) Deadline() time.Time { return l.clock.Deadline() }
