// Package outcome has two enumerations: how much is known of an operation at the servers, and the
// refusals that decisions depend on. It is pure. Package zkconn, which finds them, and the
// coordinator, which decides on them, share it (zkconn.Unknown, zkconn.ErrNoAuth).
package outcome

import "fmt"

// Outcome says whether the servers have carried an operation out. The zero value is Applied.
type Outcome int

const (
	// Applied: the operation succeeded.
	Applied Outcome = iota
	// Refused: a server answered with a definite code; nothing was changed.
	Refused
	// NotSent: the request never left; nothing was changed.
	NotSent
	// Unknown: the request may have been executed, or may yet be while the session lives.
	Unknown
	// Deferred: a server does not carry the request out now; nothing was changed, and it may be
	// sent again after a pause (zkconn.ErrThrottled, ErrReadOnly, ErrSessionMoved).
	Deferred
	// NotApplied: the reply was lost, and the nodes show that nothing was changed and nothing will be. Only
	// zkconn.Conn.ResolveTxn finds that, behind a Fence.
	NotApplied
)

// Cause is the error of a refusal: see the variables of package zkconn.
type Cause string

// The causes.
const (
	NoNode       Cause = "no such node"
	NodeExists   Cause = "node exists"
	NoAuth       Cause = "not allowed by the ACL"
	OverQuota    Cause = "quota exceeded"
	LocalSession Cause = "an ephemeral node on a local session"
)

// Error is the cause in words.
func (c Cause) Error() string { return string(c) }

var names = [...]string{"applied", "refused", "not sent", "unknown", "deferred", "not applied"}

// String gives the outcome in lower case.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(names) {
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
	return names[o]
}
