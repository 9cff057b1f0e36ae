package zkconn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// The errors of this package, to be tested with errors.Is. What an operation returns is an *Error that wraps one of
// them, and the library's own error beside it.
var (
	// ErrBadConfig: a configuration value was refused; nothing was sent.
	ErrBadConfig = errors.New("bad configuration")
	// ErrBadPath: a path was refused; nothing was sent.
	ErrBadPath = errors.New("bad path")
	// ErrTooLarge: the request would exceed what a server reads by default (jute.maxbuffer, 1 MiB). A server cuts the
	// connection of a client that sends more, so nothing was sent.
	ErrTooLarge = errors.New("request too large")
	// ErrNoNode: the node, or the parent of a node to be created, does not exist.
	ErrNoNode = errors.New("no such node")
	// ErrNodeExists: the node exists.
	ErrNodeExists = errors.New("node exists")
	// ErrNotEmpty: the node has children.
	ErrNotEmpty = errors.New("node has children")
	// ErrNoAuth: the node's ACL does not allow it.
	ErrNoAuth = errors.New("not allowed by the ACL")
	// ErrAuthFailed: the server refused a credential, or a client without one; or a SASL exchange failed for good
	// (WithSASL).
	ErrAuthFailed = errors.New("credential refused")
	// ErrBadVersion: the node's version is another one.
	ErrBadVersion = errors.New("version differs")
	// ErrNoChildrenForEphemerals: an ephemeral node cannot have children.
	ErrNoChildrenForEphemerals = errors.New("parent is ephemeral")
	// ErrRefused: the server gave a definite answer that has no value of its own here (an invalid ACL,
	// a quota, an operation unknown to the server, a session that moved to another server).
	ErrRefused = errors.New("refused by the server")
	// ErrClosed: the connection was closed, or its session has expired (then zk.ErrSessionExpired is wrapped too).
	// Alone it means that nothing was sent; together with ErrUnknownOutcome that the request was under way.
	ErrClosed = errors.New("connection closed")
	// ErrUnavailable: no server could be reached; nothing was sent.
	ErrUnavailable = errors.New("no server available")
	// ErrSessionRemains: the servers are not known to have closed the session, so it may last until
	// it expires.
	ErrSessionRemains = errors.New("the session may remain")
	// ErrUnknownOutcome: the request may or may not have been executed.
	ErrUnknownOutcome = errors.New("outcome unknown")
)

// Error is what every operation of a Conn returns when it fails.
type Error struct {
	// Op is the operation, in one or two words.
	Op string
	// Path is the path as the caller gave it (without the chroot). In a failed transaction it is the path of the part
	// that failed.
	Path string
	// Err wraps one of this package's values, and the library's own error where there is one.
	Err error
}

// Error names the operation, the path and the cause.
func (e *Error) Error() string { return fmt.Sprintf("zkconn: %s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap gives the cause, from which errors.Is and errors.As reach this package's value and the library's error.
func (e *Error) Unwrap() error { return e.Err }

// classify gives this package's value for an error of the library. What is not a definite code of the server, or a
// definite word of the library that the request never left, is an unknown outcome: net.OpError leaks through it, and
// so do errors of decoding a reply whose request was executed.
//
// zk.ErrAPIError and zk.ErrSessionExpired are left out on purpose: the first is also what the library says when it
// cannot decode a transaction's reply, the second also what it says to requests whose fate it does not know.
func classify(err error) error {
	for _, known := range classes {
		if errors.Is(err, known.library) {
			return known.ours
		}
	}
	switch code, ok := unnamedCode(err); {
	case ok && code == codeSASLRequired:
		return ErrAuthFailed
	case ok && refusingCode(code):
		return ErrRefused
	}
	return ErrUnknownOutcome
}

var classes = []struct{ library, ours error }{
	{zk.ErrNoNode, ErrNoNode},
	{zk.ErrNodeExists, ErrNodeExists},
	{zk.ErrNotEmpty, ErrNotEmpty},
	{zk.ErrNoAuth, ErrNoAuth},
	{zk.ErrAuthFailed, ErrAuthFailed},
	{zk.ErrBadVersion, ErrBadVersion},
	{zk.ErrNoChildrenForEphemerals, ErrNoChildrenForEphemerals},
	{zk.ErrNoServer, ErrUnavailable},
	{zk.ErrInvalidPath, ErrBadPath},
	{zk.ErrInvalidACL, ErrRefused},
	{zk.ErrSessionMoved, ErrRefused},
	{zk.ErrBadArguments, ErrRefused},
}

// Codes of KeeperException that the library has no names for.
const (
	codeRuntimeInconsistency = -2
	codeUnimplemented        = -6
	codeNotReadOnly          = -119
	codeEphemeralOnLocal     = -120
	codeNoWatcher            = -121
	codeSASLRequired         = -124
	codeQuotaExceeded        = -125
	codeThrottled            = -127
)

// refusingCode says whether a server answers with code only when it has not executed the request. The others
// (-1 system error, -7 operation timeout, ...) may come after the transaction was proposed.
func refusingCode(code int) bool {
	switch code {
	case codeUnimplemented, codeNotReadOnly, codeEphemeralOnLocal, codeNoWatcher, codeSASLRequired, codeQuotaExceeded, codeThrottled:
		return true
	}
	return false
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
