package locks

import (
	"context"
	"errors"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrAgain marks an error of your own as one that may pass: see MayPass.
//
//	return fmt.Errorf("%w: %w", locks.ErrAgain, err)
var ErrAgain = errors.New("turnstile: try again")

// MayPass tells whether the same call may succeed later without anybody changing something.
// Election.Run goes on after such an error, and returns any other.
//
//   - May pass: ErrLost, ErrRevoked, ErrMaxHold, ErrNotAcquired, ErrDeadlock, ErrNoLeader,
//     ErrNotHolding, ErrUnconfirmed, ErrUnknownOutcome, ErrSessionFull, zkconn.ErrUnavailable,
//     zkconn.ErrThrottled, zkconn.ErrReadOnly, zkconn.ErrSessionMoved, ErrQuota, ErrAgain, and
//     context.DeadlineExceeded: somebody else holds, or the ensemble is out of reach, or does not
//     carry out requests now. Over gateways
//     ErrUnavailable comes with ErrFailed: no gateway carries the request out.
//   - May not: ErrClosed, also where a lease was lost by it; ErrBadPath, ErrBadAcquire, ErrTooLarge, zkconn.ErrBadConfig;
//     ErrNoAuth, zkconn.ErrAuthFailed, ErrLocalSession; ErrReentry, ErrUpgrade, ErrNotWriter, ErrPermits; ErrNotHeld;
//     ErrFailed; context.Canceled; and every error that is not Turnstile's.
//
// It is false for nil.
func MayPass(err error) bool {
	if errors.Is(err, ErrClosed) {
		return false
	}
	for _, passing := range []error{
		ErrLost, ErrRevoked, ErrMaxHold, ErrNotAcquired, ErrDeadlock, ErrNoLeader, ErrNotHolding, ErrUnconfirmed,
		ErrUnknownOutcome, ErrSessionFull, zkconn.ErrUnavailable, zkconn.ErrThrottled, zkconn.ErrReadOnly,
		zkconn.ErrSessionMoved, ErrQuota, ErrAgain, context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
