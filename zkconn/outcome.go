package zkconn

import (
	"errors"
	"fmt"
)

// Outcome is what the error of an operation says about the state of the server. The zero value is Applied.
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
	// Deferred: a server answered that it does not carry the request out now; nothing was changed, and the same request
	// may be sent again, after a pause (ErrThrottled, ErrReadOnly, ErrSessionMoved).
	Deferred
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
	case Deferred:
		return "deferred"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// OutcomeOf judges the error of an operation: nil is Applied, a definite code of a server Refused or Deferred, an
// operation that never left NotSent, and everything else Unknown. It judges the library's own errors likewise.
//
// In an operation of several requests (EnsureParents) it judges the request that failed.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	for _, known := range outcomes {
		if errors.Is(err, known.value) {
			return known.outcome
		}
	}
	for _, known := range outcomes {
		if known.value == classify(err) {
			return known.outcome
		}
	}
	return Unknown
}

// outcomes are in the order in which they are looked for. ErrUnknownOutcome comes first, because an operation that was
// under way when the connection was closed carries ErrClosed as well.
var outcomes = []struct {
	value   error
	outcome Outcome
}{
	{ErrUnknownOutcome, Unknown},
	{ErrBadPath, NotSent}, {ErrBadConfig, NotSent}, {ErrTooLarge, NotSent}, {ErrClosed, NotSent}, {ErrUnavailable, NotSent},
	{ErrThrottled, Deferred}, {ErrReadOnly, Deferred}, {ErrSessionMoved, Deferred},
	{ErrNoNode, Refused}, {ErrNodeExists, Refused}, {ErrNotEmpty, Refused}, {ErrNoAuth, Refused}, {ErrAuthFailed, Refused},
	{ErrBadVersion, Refused}, {ErrNoChildrenForEphemerals, Refused}, {ErrQuota, Refused}, {ErrLocalSession, Refused},
	{ErrRefused, Refused},
}
