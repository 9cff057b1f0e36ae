package zkconn

import (
	"errors"
	"fmt"
)

// Outcome is what the error of an operation says about the state of the server.
type Outcome int

const (
	// Applied: the operation succeeded.
	Applied Outcome = iota
	// Refused: a server answered with a definite code; nothing was changed.
	Refused
	// NotSent: the request never left; nothing was changed.
	NotSent
	// Unknown: the request may or may not have been executed, or may be executed yet while the session lives.
	Unknown
)

// String gives the outcome in lower case.
func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case Refused:
		return "refused"
	case NotSent:
		return "not sent"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// OutcomeOf judges the error of an operation: nil is Applied, a definite code of a server Refused, an operation that
// never left NotSent, and everything else Unknown. It judges the library's own errors likewise.
//
// In an operation of several requests (EnsureParents) it judges the request that failed.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	// First of all: an operation that was under way when the connection was closed carries ErrClosed as well.
	if errors.Is(err, ErrUnknownOutcome) {
		return Unknown
	}
	for _, value := range []error{ErrBadPath, ErrBadConfig, ErrTooLarge, ErrClosed, ErrUnavailable} {
		if errors.Is(err, value) {
			return NotSent
		}
	}
	for _, value := range []error{
		ErrNoNode, ErrNodeExists, ErrNotEmpty, ErrNoAuth, ErrAuthFailed, ErrBadVersion, ErrNoChildrenForEphemerals, ErrRefused,
	} {
		if errors.Is(err, value) {
			return Refused
		}
	}
	switch classify(err) {
	case ErrUnknownOutcome:
		return Unknown
	case ErrUnavailable, ErrBadPath:
		return NotSent
	}
	return Refused
}
