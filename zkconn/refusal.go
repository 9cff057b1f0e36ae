package zkconn

import "errors"

// committedRefusals are the refusals that a server answers with only when the leader has found them
// for a transaction. Others it may give by itself, without asking the leader: that it is throttled,
// that the session has moved to another server, that it is read-only, that a credential or a quota
// does not allow it.
var committedRefusals = []error{
	ErrNoNode, ErrNodeExists, ErrNotEmpty, ErrNoAuth, ErrBadVersion, ErrNoChildrenForEphemerals,
}

// CommittedRefusal tells whether the error of a write (Create, Delete, SetData, Heartbeat, Commit)
// proves that the ensemble has committed the refused transaction: the leader proposes a refused
// write as a transaction that changes nothing (PrepRequestProcessor), and servers answer when that
// is committed. So it proves as much as a success does: the session lived when the request was
// sent, and our server shows all that was committed before. It is false for nil, for a refusal that
// a server may give by itself, and for an unknown outcome.
//
// The error of a read proves nothing of the kind, whatever it says.
//
// ErrNoAuth counts here, but not as evidence for the lease (verdict.go). In
// a part of a transaction of several, as Heartbeat and Commit send them, it is the leader's. Where
// zookeeper.enableEagerACLCheck is set, a server alone may refuse a single Create, Delete or
// SetData with it: that one is no proof.
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
