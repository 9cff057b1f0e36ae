package zkconn

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Codes of KeeperException that this package looks at.
const (
	codeRuntimeInconsistency = -2
	codeUnimplemented        = -6
	codeNoNode               = -101
	codeNoAuth               = -102
	codeSessionExpired       = -112
	codeAuthFailed           = -115
	codeSessionMoved         = -118
	codeNoWatcher            = -121
	codeSASLRequired         = -124
	codeThrottled            = -127
)

// subject says what was asked, where one code means different things.
type subject uint8

const (
	anything subject = iota
	// theGuard: the part of a transaction that checks its guard.
	theGuard
	// theNewNode: the part that checks whether the session may read the node that another part makes.
	theNewNode
)

// answer is a row of the table of outcomes. A column that does not apply is zero.
type answer struct {
	of subject
	// code is the server's, said the library's error; zero where that has the code as text.
	code int32
	said error
	// value is this package's error.
	value error
	// outcome is its meaning for the nodes, proves its meaning for the session.
	outcome Outcome
	proves  verdict
	// trouble says to people what the servers do: see Trouble.
	trouble string
}

// outcomes is the table of all that servers, the library and this package say in place of success.
// The first matching row counts: ErrUnknownOutcome comes first, because an operation that was under
// way at the close carries ErrClosed as well.
//
// A code without a row is an unknown outcome: it may come after the transaction was proposed
// (system error, marshalling error), or no server sends it (connection loss, operation timeout,
// invalid callback, request timeout). So are session expired and API error, which the library also
// says of requests whose fate it does not know.
var outcomes = []answer{
	{value: ErrUnknownOutcome, outcome: Unknown},
	{said: zk.ErrInvalidPath, value: ErrBadPath, outcome: NotSent},
	{said: zk.ErrNoServer, value: ErrUnavailable, outcome: NotSent},
	{value: ErrBadConfig, outcome: NotSent},
	{value: ErrTooLarge, outcome: NotSent},
	{value: ErrClosed, outcome: NotSent},
	{value: errNotWanted, outcome: NotSent},

	{theGuard, codeNoNode, zk.ErrNoNode, ErrGuardGone, Refused, decided, ""},
	{theGuard, -103, zk.ErrBadVersion, ErrGuardChanged, Refused, decided, ""},
	{theNewNode, codeNoAuth, zk.ErrNoAuth, errUnreadable, Refused, decided, ""},

	{0, codeNoNode, zk.ErrNoNode, ErrNoNode, Refused, decided, ""},
	{0, codeNoAuth, zk.ErrNoAuth, ErrNoAuth, Refused, decidedInPart, ""},
	{0, -103, zk.ErrBadVersion, ErrBadVersion, Refused, decided, ""},
	{0, -108, zk.ErrNoChildrenForEphemerals, ErrNoChildrenForEphemerals, Refused, decided, ""},
	{0, -110, zk.ErrNodeExists, ErrNodeExists, Refused, decided, ""},
	{0, -111, zk.ErrNotEmpty, ErrNotEmpty, Refused, decided, ""},
	{0, codeAuthFailed, zk.ErrAuthFailed, ErrAuthFailed, Refused, 0, ""},
	{0, codeSASLRequired, nil, ErrAuthFailed, Refused, 0, ""},
	{0, -120, nil, ErrLocalSession, Refused, 0, ""},
	{0, -125, nil, ErrQuota, Refused, 0, ""},
	{0, codeUnimplemented, nil, ErrRefused, Refused, 0, ""},
	{0, -8, zk.ErrBadArguments, ErrRefused, Refused, 0, ""},
	{0, -13, nil, ErrRefused, Refused, 0, ""}, // new config, no quorum
	{0, -14, nil, ErrRefused, Refused, 0, ""}, // reconfiguration in progress
	{0, -114, zk.ErrInvalidACL, ErrRefused, Refused, 0, ""},
	{0, codeNoWatcher, nil, ErrRefused, Refused, 0, ""},
	{0, -123, zk.ErrReconfigDisabled, ErrRefused, Refused, 0, ""},

	{value: ErrHungUp, outcome: Unknown, trouble: "the server hangs up on"},
	{value: ErrNoAnswer, outcome: Unknown, trouble: "the server does not answer"},
	{value: ErrServerError, outcome: Unknown, trouble: "the server fails at"},
	{said: zk.ErrAPIError, value: ErrUnknownOutcome, // the server's word, or the library's: nothing tells the difference
		outcome: Unknown, trouble: "the server gives an answer that cannot be read to"},
	{0, codeSessionExpired, zk.ErrSessionExpired, ErrUnknownOutcome, Unknown, ended,
		// A follower that keeps sessions local has its leader look at a transaction, which does not know the session.
		"the servers say that the session is over, or local to one of them, to"},
	{0, codeThrottled, nil, ErrThrottled, Deferred, 0, "the server is throttled and does not carry out"},
	{0, -119, nil, ErrReadOnly, Deferred, 0, "the server is read-only and does not carry out"},
	{0, codeSessionMoved, zk.ErrSessionMoved, ErrSessionMoved, Deferred, moved,
		"the session has moved to another server, and this one does not carry out"},
}

// answerTo finds the row of an error of the library: an unknown outcome unless it is a definite
// code of the server, or the library's definite word that the request never left. A net.OpError
// leaks through the library, and so do errors of decoding a reply whose request was executed.
func answerTo(what subject, err error) answer {
	code, _ := unnamedCode(err)
	for _, row := range outcomes {
		if (row.of == anything || row.of == what) &&
			(row.said != nil && errors.Is(err, row.said) || code != 0 && row.code == code) {
			return row
		}
	}
	return outcomes[0]
}

// unnamedCode reads the code out of the library's text for codes that it does not know
// (ErrCode.toError in its constants.go).
func unnamedCode(err error) (int32, bool) {
	if err == nil {
		return 0, false
	}
	text, found := strings.CutPrefix(err.Error(), "unknown error: ")
	if !found {
		return 0, false
	}
	code, parseErr := strconv.ParseInt(text, 10, 32)
	return int32(code), parseErr == nil
}

func hasUnnamedCode(err error, code int32) bool {
	got, ok := unnamedCode(err)
	return ok && got == code
}
