package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

type errorRow struct {
	err error
	// passes is the answer of MayPass: asReason in every row with a reason, and in no other.
	passes passing
	// reasons are the reasons of notices and refusals that become this error.
	reasons []messages.Reason
	// rather are reasons that go with this error, too, but whose notice says more: one that a lock
	// was lost is ErrLost for any of them.
	rather []messages.Reason
	// word is error.type of a span that ends with this error, where no reason has one.
	word string
}

type passing string

const (
	mayPass    passing = "may pass"
	mayNotPass passing = "may not pass"
	// asReason: messages.Reason.MayPass has the answer, the same for all reasons of the row.
	asReason passing = "as its reasons"
)

func because(reasons ...messages.Reason) []messages.Reason { return reasons }

// errorTable has a row for every error that this package returns, its own and those of the packages
// below it, and every messages.Reason is in one row. A span has the word of the first row that
// matches. A test finds errors and reasons without a row.
var errorTable = []errorRow{
	// The client is over. It stands first: a loss by that does not pass.
	{ErrClosed, asReason, because(messages.ReasonSessionClosed), nil, ""},

	{ErrNotAcquired, asReason, because(messages.ReasonNotAcquired), nil, ""},
	{ErrDeadlock, asReason, nil, because(messages.ReasonDeadlock), ""},
	{ErrReentry, asReason, because(messages.ReasonReentry), nil, ""},
	{ErrUpgrade, asReason, because(messages.ReasonUpgrade), nil, ""},
	{ErrPermits, asReason, because(messages.ReasonPermits), nil, ""},
	{ErrSessionFull, asReason, because(messages.ReasonSessionFull), nil, ""},
	{ErrQueueFull, asReason, because(messages.ReasonQueueFull), nil, ""},
	{ErrQuota, asReason, because(messages.ReasonQuota), nil, ""},
	{ErrNoAuth, asReason, because(messages.ReasonNoAuth), nil, ""},
	{ErrLocalSession, asReason, because(messages.ReasonLocalSession), nil, ""},
	{ErrBadAcquire, asReason, because(messages.ReasonBadInput), nil, ""},
	{ErrBadPath, mayNotPass, nil, nil, messages.ReasonBadInput.Word()},
	{ErrTooLarge, mayNotPass, nil, nil, messages.ReasonBadInput.Word()},
	{ErrNeedsSession, mayNotPass, nil, nil, messages.ReasonBadInput.Word()},
	{zkconn.ErrBadConfig, mayNotPass, nil, nil, messages.ReasonBadInput.Word()},

	{ErrRevoked, asReason, nil, because(messages.ReasonRevoked), ""},
	{ErrMaxHold, mayPass, nil, nil, "max_hold"},
	{ErrLost, asReason, because(messages.ReasonHoldGone),
		because(messages.ReasonLeaseOver, messages.ReasonSessionExpired, messages.ReasonNodeDeleted), ""},
	{ErrReleased, asReason, nil, because(messages.ReasonReleased), ""},
	{ErrNotHeld, mayNotPass, nil, nil, "not_held"},
	{ErrNotWriter, mayNotPass, nil, nil, messages.ReasonBadInput.Word()},
	{ErrUnconfirmed, mayPass, nil, nil, "unconfirmed"},
	{ErrUnknownOutcome, mayPass, nil, nil, "unknown_outcome"},

	{ErrGone, asReason, because(messages.ReasonGone), nil, ""},
	{ErrNotHolding, mayPass, nil, nil, "not_holding"},
	{ErrNoLeader, mayPass, nil, nil, "no_leader"},
	{ErrAgain, mayPass, nil, nil, "again"},

	// Of RunOnceFor: another instant may succeed, this one only where ErrAgain stands beside it.
	{ErrNotRun, mayNotPass, nil, nil, "not_run"},

	{ErrSessionRemains, mayNotPass, nil, nil, "session_remains"},
	{ErrSessionFileInUse, mayNotPass, nil, nil, "session_file"},
	{sessionfile.ErrRefused, mayNotPass, nil, nil, "session_file"},
	{zkconn.ErrAuthFailed, mayNotPass, nil, nil, messages.ReasonNoAuth.Word()},

	{context.DeadlineExceeded, asReason, nil, because(messages.ReasonTimeout), ""},
	{context.Canceled, asReason, nil, because(messages.ReasonCancelled, messages.ReasonOwnerGone), ""},

	// The servers, or gateways, do not carry requests out now.
	{zkconn.ErrUnavailable, asReason, nil, because(messages.ReasonUnreachable, messages.ReasonGatewayFull), ""},
	{zkconn.ErrThrottled, mayPass, nil, nil, "throttled"},
	{zkconn.ErrReadOnly, mayPass, nil, nil, "read_only"},
	{zkconn.ErrSessionMoved, mayPass, nil, nil, "session_moved"},

	// A part of a transaction was refused: the program has to read the nodes.
	{zkconn.ErrNoNode, mayNotPass, nil, nil, "no_node"},
	{zkconn.ErrNodeExists, mayNotPass, nil, nil, "node_exists"},
	{zkconn.ErrNotEmpty, mayNotPass, nil, nil, "not_empty"},
	{zkconn.ErrBadVersion, mayNotPass, nil, nil, "bad_version"},
	{zkconn.ErrNoChildrenForEphemerals, mayNotPass, nil, nil, "no_children_for_ephemerals"},

	// Of the packages below, which turn them into others before they come here.
	{zkconn.ErrRefused, mayNotPass, nil, nil, messages.ReasonRefused.Word()},
	{zkconn.ErrClosed, mayNotPass, nil, nil, messages.ReasonSessionClosed.Word()},
	{zkconn.ErrOtherSession, mayNotPass, nil, nil, messages.ReasonSessionExpired.Word()},
	{zkconn.ErrHungUp, mayNotPass, nil, nil, "hung_up"},
	{zkconn.ErrServerError, mayNotPass, nil, nil, "server_error"},
	{zkconn.ErrNoAnswer, mayNotPass, nil, nil, "no_answer"},
	{zkconn.ErrGuardGone, mayNotPass, nil, nil, messages.ReasonNodeDeleted.Word()},
	{zkconn.ErrGuardChanged, mayNotPass, nil, nil, "bad_version"},
	{actors.ErrNotHolding, mayNotPass, nil, nil, "not_held"},
	{queue.ErrNoPermits, mayNotPass, nil, nil, messages.ReasonPermits.Word()},
	{messages.ErrTokenRange, mayNotPass, nil, nil, messages.ReasonZxidOutOfRange.Word()},

	// Any other failure. It stands last, because ErrFailed comes together with others.
	{ErrFailed, asReason, nil, because(messages.ReasonRefused, messages.ReasonSequenceExhausted,
		messages.ReasonZxidOutOfRange, messages.ReasonStopped), ""},
}

// MayPass reports whether the same call may succeed later without anybody changing something.
// Election.Run goes on after such an error, and returns any other. It is false for nil.
//
//   - May pass: ErrLost, ErrRevoked, ErrMaxHold, ErrNotAcquired, ErrDeadlock, ErrNoLeader,
//     ErrNotHolding, ErrUnconfirmed, ErrUnknownOutcome, ErrSessionFull, ErrQueueFull,
//     zkconn.ErrUnavailable, zkconn.ErrThrottled, zkconn.ErrReadOnly, zkconn.ErrSessionMoved,
//     ErrQuota, ErrAgain, and context.DeadlineExceeded. Over gateways ErrUnavailable comes with
//     ErrFailed: no gateway carries the request out.
//   - May not: every other error. So ErrClosed, also where a lease was lost by it; ErrBadPath,
//     ErrBadAcquire, ErrTooLarge, zkconn.ErrBadConfig; ErrNoAuth, zkconn.ErrAuthFailed,
//     ErrLocalSession; ErrReentry, ErrUpgrade, ErrNotWriter, ErrPermits; ErrNotHeld; ErrFailed;
//     context.Canceled; and every error that is not Turnstile's.
func MayPass(err error) bool {
	if errors.Is(err, ErrClosed) {
		return false
	}
	return slices.ContainsFunc(errorTable, func(row errorRow) bool {
		return row.mayPass() && errors.Is(err, row.err)
	})
}

// sentinel finds the error that goes with a reason, or gives the usual one of the notice.
func sentinel(reason messages.Reason, usual error) error {
	switch reason {
	case messages.ReasonUnreachable, messages.ReasonGatewayFull:
		if usual != ErrLost {
			return errUnreachable
		}
		return usual
	}
	for _, row := range errorTable {
		if slices.Contains(row.reasons, reason) {
			return row.err
		}
	}
	return usual
}

// errUnreachable: no gateway carries the request out now, since none answers or each has too many.
// It may pass.
var errUnreachable = fmt.Errorf("%w: %w", ErrFailed, zkconn.ErrUnavailable)

func errorType(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Reason != messages.ReasonNone {
		return metering.Reason(e.Reason)
	}
	for _, row := range errorTable {
		if errors.Is(err, row.err) {
			return row.inOneWord()
		}
	}
	return metering.Reason(messages.ReasonNone)
}

func (row *errorRow) mayPass() bool {
	if row.passes == asReason {
		return row.firstReason().MayPass()
	}
	return row.passes == mayPass
}

func (row *errorRow) inOneWord() string {
	if row.word != "" {
		return row.word
	}
	return row.firstReason().Word()
}

func (row *errorRow) firstReason() messages.Reason {
	if len(row.reasons) > 0 {
		return row.reasons[0]
	}
	return row.rather[0]
}
