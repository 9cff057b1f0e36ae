package zkconn

import (
	"cmp"
	"errors"
	"fmt"

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

// judge finds the row of an error of this package, or of the library.
func judge(err error) answer {
	for _, row := range outcomes {
		if errors.Is(err, row.value) {
			return row
		}
	}
	return answerTo(anything, err)
}

// OutcomeOf judges the error of an operation, or of the library: nil is Applied, a definite code of
// a server Refused or Deferred, an operation that never left NotSent, and everything else Unknown.
// Of several requests (EnsureParents) it judges the one that failed.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	return judge(err).outcome
}

// CommittedRefusal reports whether the error of a write (Create, Delete, SetData, Heartbeat,
// Commit) proves that the ensemble has committed the refusal: the leader proposes a refused write
// as one that changes nothing (PrepRequestProcessor), and servers answer when that is committed. It
// proves as much as a success: the session lived when the request was sent, and our server shows
// all that was committed before. It is false for nil, for a refusal that a server may give by
// itself, for an unknown outcome, and for reads.
//
// ErrNoAuth counts here, but not as evidence for the lease (verdict.go): in a part of a transaction
// of several, as of Heartbeat and Commit, it is the leader's. Where zookeeper.enableEagerACLCheck
// is set, a server alone may refuse a single Create, Delete or SetData with it: that is no proof.
func CommittedRefusal(err error) bool {
	proves := judge(err).proves
	return proves == decided || proves == decidedInPart
}

// Trouble says, for people, why an operation was not carried out, where a retry may meet the same
// trouble: "the server hangs up on create container /x"; else "". A connection that is lost for
// other reasons reads the same, so only the second in a row of one request says much.
func Trouble(err error) string {
	var of *Error
	if !errors.As(err, &of) {
		return ""
	}
	for _, row := range outcomes {
		if row.trouble != "" && errors.Is(err, cmp.Or(row.said, row.value)) {
			return fmt.Sprintf("%s %s %s", row.trouble, of.Op, Shown(of.Path))
		}
	}
	return ""
}
