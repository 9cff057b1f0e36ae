package zkconn

import (
	"encoding/binary"
	"slices"
)

// verdict is the meaning of an answer for the session (Outcome is that for the nodes): see package
// lease.
type verdict uint8

const (
	// undecided: a server may have answered by itself, without the leader.
	undecided verdict = iota
	// decided: the leader has decided every part of it, on our living session.
	decided
	// decidedInPart is decided in a part of a transaction, and undecided elsewhere: a server may say it of its own accord
	// (ZooKeeperServer.authWriteRequest, where zookeeper.enableEagerACLCheck is set).
	decidedInPart
	// moved: the session goes on, but not on this connection (SessionMoved).
	moved
	// ended: the leader has said that the session is over (SessionExpired).
	ended
)

// verdictOf judges an answer to a request that goes by way of the leader. A refusal is committed
// like any transaction. Other outcomes a server may give by itself: throttled, authentication
// required.
func verdictOf(code int32) verdict {
	if code == 0 {
		return decided
	}
	i := slices.IndexFunc(outcomes, func(row answer) bool { return row.of == anything && row.code == code })
	if i < 0 {
		return undecided
	}
	return outcomes[i].proves
}

// verdictOfParts judges the body of an answer to a multi whose header has no error. A refused multi
// has an error in each part, also when the session is over: PrepRequestProcessor puts
// checkSession's SessionExpired and SessionMoved into the part and commits the refusal. Taken for
// evidence, such an answer kept a lease for ever (issue 35). A part is refused by the leader alone,
// so every other refusal is as good as a success. A body of which a part is missing is no evidence.
func verdictOfParts(body []byte) verdict {
	const header, withCode = 4 + 1 + 4, 4 + 1 + 4 + 4 // type, done, error; and an error's result
	if len(body) < header {
		return undecided
	}
	if int32(binary.BigEndian.Uint32(body)) != typeOfError {
		return decided // of other parts than errors: carried out
	}
	for ; len(body) >= header; body = body[withCode:] {
		if body[4] != 0 {
			return decided // the end of the parts
		}
		if len(body) < withCode {
			break
		}
		if v := verdictOf(int32(binary.BigEndian.Uint32(body[header:]))); v == ended || v == moved {
			return v
		}
	}
	return undecided
}
