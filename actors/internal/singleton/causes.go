package singleton

import (
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// Causes of the end of the context of a child.
var (
	// ErrLost: the lock is not ours any more; the text says why.
	ErrLost = errors.New("turnstile: the singleton has lost its lock")
	// ErrAsked: a revoke request has come.
	ErrAsked = errors.New("turnstile: the lock of the singleton was asked for")
	// ErrFailing: the child has failed too often here.
	ErrFailing = errors.New("turnstile: the singleton has failed too often on this node")
	// ErrStopped: the singleton was stopped, or its session is about to close.
	ErrStopped = errors.New("turnstile: the singleton was stopped")
)

// causeOf says why the context of the child ends. A loss that was told has ended it before; where
// nobody has told, the clock knows that the lease is over.
func causeOf(outcome term.Outcome) error {
	switch outcome {
	case term.Revoked:
		return ErrAsked
	case term.Failing:
		return ErrFailing
	case term.Taken, term.LeaseLost:
		return fmt.Errorf("%w: %s", ErrLost, messages.ReasonLeaseOver)
	}
	return ErrStopped
}
