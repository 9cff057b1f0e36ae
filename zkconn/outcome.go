package zkconn

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/outcome"
)

// Outcome says whether the servers have carried an operation out. The error tells it (OutcomeOf),
// or the nodes that exist (Fence, ResolveTxn). The zero value is Applied.
type Outcome = outcome.Outcome

// The outcomes: see package outcome.
const (
	Applied    = outcome.Applied
	Refused    = outcome.Refused
	NotSent    = outcome.NotSent
	Unknown    = outcome.Unknown
	Deferred   = outcome.Deferred
	NotApplied = outcome.NotApplied
)

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
	{errNotWanted, NotSent},
	{ErrThrottled, Deferred}, {ErrReadOnly, Deferred}, {ErrSessionMoved, Deferred},
	{ErrNoNode, Refused}, {ErrNodeExists, Refused}, {ErrNotEmpty, Refused}, {ErrNoAuth, Refused}, {ErrAuthFailed, Refused},
	{ErrBadVersion, Refused}, {ErrNoChildrenForEphemerals, Refused}, {ErrQuota, Refused}, {ErrLocalSession, Refused},
	{ErrRefused, Refused}, {ErrGuardChanged, Refused},
}

// committedRefusals are the refusals that a server answers with only when the leader has found them
// for a transaction. Others it may give by itself, without asking the leader: that it is throttled,
// that the session has moved to another server, that it is read-only, that a credential or a quota
// does not allow it.
var committedRefusals = []error{
	ErrNoNode, ErrNodeExists, ErrNotEmpty, ErrNoAuth, ErrBadVersion, ErrNoChildrenForEphemerals, ErrGuardChanged,
}

// CommittedRefusal reports whether the error of a write (Create, Delete, SetData, Heartbeat, Commit)
// proves that the ensemble has committed the refused transaction: the leader proposes a refused
// write as a transaction that changes nothing (PrepRequestProcessor), and servers answer when that
// is committed. So it proves as much as a success does: the session lived when the request was
// sent, and our server shows all that was committed before. It is false for nil, for a refusal that
// a server may give by itself, and for an unknown outcome.
//
// No error of a read proves anything of the kind.
//
// ErrNoAuth counts here, but not as evidence for the lease (verdict.go). In
// a part of a transaction of several, as Heartbeat and Commit send them, it is the leader's. Where
// zookeeper.enableEagerACLCheck is set, a server alone may refuse a single Create, Delete or
// SetData with it: such a refusal is no proof.
func CommittedRefusal(err error) bool {
	if OutcomeOf(err) != Refused {
		return false
	}
	for _, refusal := range committedRefusals {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// Trouble describes, for people, why the operation of an error was not carried out, where a retry may meet the same
// trouble: "the server hangs up on create container /x". It is empty for all other errors.
//
// A connection that is lost for other reasons reads the same, because nothing tells the two apart. So one such error
// says little, and the second in a row of the same request says much.
func Trouble(err error) string {
	var of *Error
	if !errors.As(err, &of) {
		return ""
	}
	for _, known := range troubles {
		if errors.Is(err, known.value) {
			return fmt.Sprintf("%s %s %s", known.text, of.Op, Shown(of.Path))
		}
	}
	return ""
}

var troubles = []struct {
	value error
	text  string
}{
	{ErrHungUp, "the server hangs up on"},
	{ErrNoAnswer, "the server does not answer"},
	{ErrServerError, "the server fails at"},
	{zk.ErrAPIError, "the server gives an answer that cannot be read to"}, // or says so itself: the library tells no difference
	// A follower that keeps sessions local has its leader look at a transaction, which does not know the session.
	{zk.ErrSessionExpired, "the servers say that the session is over, or local to one of them, to"},
	{ErrThrottled, "the server is throttled and does not carry out"},
	{ErrReadOnly, "the server is read-only and does not carry out"},
	{ErrSessionMoved, "the session has moved to another server, and this one does not carry out"},
}
