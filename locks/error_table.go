package locks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

type errorRow struct {
	err error
	// reason is that of refusals that become this error; ReasonNone where none does by its reason
	// alone.
	reason messages.Reason
	// word is the attribute error.type of a span that ends with it.
	word string
	// passes is the answer of MayPass.
	passes bool
}

// errorTable has a row for every error that this package returns, made where it is declared. A span
// has the word of the first that matches. ErrClosed stands first, because a loss by it does not
// pass, and ErrFailed last, because it comes with others.
var errorTable []errorRow

func (r errorRow) add() error {
	errorTable = append(errorTable, r)
	return r.err
}

func because(reason messages.Reason, err error) error {
	return errorRow{err, reason, reason.Word(), reason.MayPass()}.add()
}

func mayPass(word string, err error) error { return errorRow{err: err, word: word, passes: true}.add() }

func mayNotPass(word string, err error) error { return errorRow{err: err, word: word}.add() }

// MayPass reports whether the same call may succeed later without anybody changing something.
// Election.Run goes on after such an error, and returns any other.
//
// It is true for the errors of this package whose doc says that they may pass, and for
// zkconn.ErrUnavailable, zkconn.ErrThrottled, zkconn.ErrReadOnly, zkconn.ErrSessionMoved and
// context.DeadlineExceeded. Over gateways ErrUnavailable comes with ErrFailed: no gateway carries
// the request out. It is false for nil, for every error with ErrClosed, and for errors that are not
// Turnstile's, unless they wrap ErrAgain.
func MayPass(err error) bool {
	return !errors.Is(err, ErrClosed) && slices.ContainsFunc(errorTable, func(row errorRow) bool {
		return row.passes && errors.Is(err, row.err)
	})
}

// sentinel finds the error to test for that goes with the reason of a refusal.
func sentinel(reason messages.Reason) error {
	switch reason {
	case messages.ReasonNone:
		return ErrFailed
	case messages.ReasonUnreachable, messages.ReasonGatewayFull: // it may pass
		return fmt.Errorf("%w: %w", ErrFailed, zkconn.ErrUnavailable)
	}
	for _, row := range errorTable {
		if row.reason == reason {
			return row.err
		}
	}
	return ErrFailed
}

// errorType gives an error in one word, as the figures have it.
func errorType(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Reason != messages.ReasonNone {
		return metering.Reason(e.Reason)
	}
	for _, row := range errorTable {
		if errors.Is(err, row.err) {
			return row.word
		}
	}
	return metering.Reason(messages.ReasonNone)
}
