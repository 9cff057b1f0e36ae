package zkconn

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Codes of KeeperException. The package doc has a table with the meaning of each.
const (
	codeSystemError             = -1
	codeRuntimeInconsistency    = -2
	codeDataInconsistency       = -3
	codeConnectionLoss          = -4
	codeMarshalling             = -5
	codeUnimplemented           = -6
	codeOperationTimeout        = -7
	codeBadArguments            = -8
	codeUnknownSession          = -12
	codeNewConfigNoQuorum       = -13
	codeReconfigInProgress      = -14
	codeAPIError                = -100
	codeNoNode                  = -101
	codeNoAuth                  = -102
	codeBadVersion              = -103
	codeNoChildrenForEphemerals = -108
	codeNodeExists              = -110
	codeNotEmpty                = -111
	codeSessionExpired          = -112
	codeInvalidCallback         = -113
	codeInvalidACL              = -114
	codeAuthFailed              = -115
	codeSessionMoved            = -118
	codeNotReadOnly             = -119
	codeEphemeralOnLocal        = -120
	codeNoWatcher               = -121
	codeRequestTimeout          = -122
	codeReconfigDisabled        = -123
	codeSASLRequired            = -124
	codeQuotaExceeded           = -125
	codeThrottled               = -127
)

// codes gives this package's value for each code that a server answers with. A code is an unknown
// outcome where it may come after the transaction was proposed, or where the library uses it for
// something else as well:
//
//   - marshalling error, when a reply could not be written (FinalRequestProcessor);
//   - session expired, which the library also says to requests whose fate it does not know. The session is over, and
//     the outcome of the request is resolved in the next one;
//   - API error, which the library also says of a transaction's reply that it cannot decode;
//   - connection loss, operation timeout, invalid callback and request timeout, which no server
//     sends.
var codes = map[int]error{
	codeSystemError:             ErrUnknownOutcome,
	codeRuntimeInconsistency:    ErrUnknownOutcome,
	codeDataInconsistency:       ErrUnknownOutcome,
	codeConnectionLoss:          ErrUnknownOutcome,
	codeMarshalling:             ErrUnknownOutcome,
	codeUnimplemented:           ErrRefused,
	codeOperationTimeout:        ErrUnknownOutcome,
	codeBadArguments:            ErrRefused,
	codeUnknownSession:          ErrUnknownOutcome,
	codeNewConfigNoQuorum:       ErrRefused,
	codeReconfigInProgress:      ErrRefused,
	codeAPIError:                ErrUnknownOutcome,
	codeNoNode:                  ErrNoNode,
	codeNoAuth:                  ErrNoAuth,
	codeBadVersion:              ErrBadVersion,
	codeNoChildrenForEphemerals: ErrNoChildrenForEphemerals,
	codeNodeExists:              ErrNodeExists,
	codeNotEmpty:                ErrNotEmpty,
	codeSessionExpired:          ErrUnknownOutcome,
	codeInvalidCallback:         ErrUnknownOutcome,
	codeInvalidACL:              ErrRefused,
	codeAuthFailed:              ErrAuthFailed,
	codeSessionMoved:            ErrSessionMoved,
	codeNotReadOnly:             ErrReadOnly,
	codeEphemeralOnLocal:        ErrLocalSession,
	codeNoWatcher:               ErrRefused,
	codeRequestTimeout:          ErrUnknownOutcome,
	codeReconfigDisabled:        ErrRefused,
	codeSASLRequired:            ErrAuthFailed,
	codeQuotaExceeded:           ErrQuota,
	codeThrottled:               ErrThrottled,
}

// named pairs the library's errors with the codes that it has them for.
var named = []struct {
	library error
	code    int
}{
	{zk.ErrNoNode, codeNoNode},
	{zk.ErrNodeExists, codeNodeExists},
	{zk.ErrNotEmpty, codeNotEmpty},
	{zk.ErrNoAuth, codeNoAuth},
	{zk.ErrAuthFailed, codeAuthFailed},
	{zk.ErrBadVersion, codeBadVersion},
	{zk.ErrNoChildrenForEphemerals, codeNoChildrenForEphemerals},
	{zk.ErrInvalidACL, codeInvalidACL},
	{zk.ErrSessionMoved, codeSessionMoved},
	{zk.ErrBadArguments, codeBadArguments},
	{zk.ErrReconfigDisabled, codeReconfigDisabled},
}

// classify gives this package's value for an error of the library. An error is an unknown outcome unless it is a
// definite code of the server, or a definite word of the library that the request never left: a net.OpError leaks
// through the library, and so do errors of decoding a reply whose request was executed.
func classify(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoServer):
		return ErrUnavailable
	case errors.Is(err, zk.ErrInvalidPath):
		return ErrBadPath
	}
	if code, ok := codeOf(err); ok {
		if value, known := codes[code]; known {
			return value
		}
	}
	return ErrUnknownOutcome
}

// codeOf gives the code that a server has answered with. It knows none for zk.ErrSessionExpired and zk.ErrAPIError,
// which the library says of other things as well.
func codeOf(err error) (int, bool) {
	for _, n := range named {
		if errors.Is(err, n.library) {
			return n.code, true
		}
	}
	return unnamedCode(err)
}

func hasCode(err error) bool {
	_, has := codeOf(err)
	return has
}

// unnamedCode reads the code out of the text that the library makes for codes it does not know; it keeps it nowhere
// else (ErrCode.toError in its constants.go).
func unnamedCode(err error) (int, bool) {
	if err == nil {
		return 0, false
	}
	text, found := strings.CutPrefix(err.Error(), "unknown error: ")
	if !found {
		return 0, false
	}
	code, parseErr := strconv.Atoi(text)
	return code, parseErr == nil
}

func hasUnnamedCode(err error, code int) bool {
	got, ok := unnamedCode(err)
	return ok && got == code
}
