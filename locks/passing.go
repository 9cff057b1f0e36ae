package locks

import (
	"context"
	"errors"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrAgain marks an error of your own as one that may pass: see MayPass.
//
//	return fmt.Errorf("%w: %w", locks.ErrAgain, err)
var ErrAgain = errors.New("turnstile: to be tried again")

// MayPass splits errors in two: those after which the same call may succeed later, and those that need somebody to change
// something. Election.Run goes on after the first kind, and returns the second.
//
//   - May pass: ErrLost, ErrRevoked, ErrMaxHold, ErrNotAcquired, ErrDeadlock, ErrNoLeader, ErrNotHolding, ErrUnconfirmed,
//     ErrUnknownOutcome, zkconn.ErrUnavailable, ErrAgain, and context.DeadlineExceeded: somebody else holds, or the ensemble
//     is out of reach. Over gateways ErrUnavailable comes with ErrFailed: no gateway carries the request out.
//   - May not: ErrClosed, also where a lease was lost by it; ErrBadPath, ErrBadAcquire, zkconn.ErrBadConfig; ErrNoAuth,
//     zkconn.ErrAuthFailed; ErrReentry, ErrUpgrade, ErrNotWriter, ErrPermits; ErrNotHeld; ErrFailed; context.Canceled; and
//     every error that is none of Turnstile's.
//
// It is false for nil.
func MayPass(err error) bool {
	if errors.Is(err, ErrClosed) {
		return false
	}
	for _, passing := range []error{
		ErrLost, ErrRevoked, ErrMaxHold, ErrNotAcquired, ErrDeadlock, ErrNoLeader, ErrNotHolding, ErrUnconfirmed,
		ErrUnknownOutcome, zkconn.ErrUnavailable, ErrAgain, context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
