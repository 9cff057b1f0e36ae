package activation

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// ErrOver: the lock is lost, was given back, or was never had. The cause of Lease.Context wraps it.
var ErrOver = errors.New("turnstile: the lock of the actor is over")

// Lease is the lock of an actor that is being served. Its methods may be called from any goroutine.
type Lease struct{ of *term.Lease }

// Path is the lock path.
func (l *Lease) Path() string { return l.of.Path }

// Token is the fencing token.
func (l *Lease) Token() messages.Token { return l.of.Token }

// Valid reports whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused. Once false it stays false.
func (l *Lease) Valid() bool { return l.of.Valid() }

// Context ends when the lock is lost, taken by force, or given back. context.Cause wraps ErrOver.
func (l *Lease) Context() context.Context { return l.of.Context }

// Deadline is the end of the lease unless it is renewed. It moves on with each renewal.
func (l *Lease) Deadline() time.Time { return l.of.Clock.Deadline() }
