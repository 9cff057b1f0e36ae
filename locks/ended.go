package locks

import (
	"context"
	"errors"
	"fmt"
)

// What the errors of contexts say. Whoever called has gone, or has waited for long enough: context.Canceled and
// context.DeadlineExceeded say that, and only that. A lease that ends ends the contexts within it, too, and those who were
// waiting there return the same errors. Servers that took one for the other have answered 200 for a payment that was not
// made.

// ended is the error of a ctx that is done, with its cause where that says more. Where the ctx is that of a lease that is
// over, the cause is the error: nobody has cancelled anything.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) || endOfLease(cause) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// endOfLease tells whether a cause is that of a lease that was taken away.
func endOfLease(cause error) bool {
	return errors.Is(cause, ErrLost) || errors.Is(cause, ErrRevoked) || errors.Is(cause, ErrMaxHold)
}

// notCallers is an error of work whose lease has ended, and whose caller's ctx has not.
func notCallers(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return withoutContext{err}
	}
	return err
}

// withoutContext is an error that matches all that the one within does, but for those of contexts. It has no Unwrap, which
// would give them away.
type withoutContext struct{ err error }

// Error gives the text of the error within.
func (w withoutContext) Error() string { return w.err.Error() }

// Is matches what the error within matches.
func (w withoutContext) Is(target error) bool {
	return target != context.Canceled && target != context.DeadlineExceeded && errors.Is(w.err, target)
}

// As finds what it finds in the error within.
func (w withoutContext) As(target any) bool { return errors.As(w.err, target) }
