package actors

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton/shell"
	"github.com/turnstile-locks/turnstile/messages"
)

// Causes of the end of the context of an Activation, to test with errors.Is.
var (
	// ErrSingletonLost: the lock is not ours any more; the text says why.
	ErrSingletonLost = shell.ErrLost
	// ErrSingletonAsked: somebody has asked for the lock.
	ErrSingletonAsked = shell.ErrAsked
	// ErrSingletonFailing: its actor has failed too often here.
	ErrSingletonFailing = shell.ErrFailing
	// ErrSingletonStopped: it was stopped, or its session is about to close.
	ErrSingletonStopped = shell.ErrStopped
)

// Activation is the first message of each incarnation of a singleton's actor. Its Grant says which
// lock is held, and has the fencing token. It does not pass the receiver middleware of the props.
type Activation struct {
	messages.Grant
	// Context ends with the term, before any other node can have the lock. In a process that is paused
	// nothing ends it in time: there Valid tells.
	Context context.Context
	// Singleton is the address to which others send.
	Singleton *actor.PID
	term      *shell.Term
}

func newActivation(term *shell.Term, singleton *actor.PID) any {
	return &Activation{Grant: term.Grant, Context: term.Context, Singleton: singleton, term: term}
}

// Valid tells whether the lock is certain to be ours now. It reads the clock, and so is right also in
// a process that was paused and has not heard yet that it lost the lock. It stays true while the
// actor is being stopped in order, when Context has ended: what it has to save it may save. Once
// false it stays false.
func (a *Activation) Valid() bool { return a.term.Valid() }

// Deadline is when the lease ends unless it is renewed; it moves on all the time while it is.
func (a *Activation) Deadline() time.Time { return a.term.Deadline() }
