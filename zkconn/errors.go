package zkconn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/turnstile-locks/turnstile/zkconn/outcome"
)

// The errors of this package, for errors.Is. An operation returns an *Error that wraps one of them,
// and the library's own.
var (
	// ErrBadConfig: a configuration value was refused; nothing was sent.
	ErrBadConfig = errors.New("bad configuration")
	// ErrBadPath: a path was refused; nothing was sent.
	ErrBadPath = errors.New("bad path")
	// ErrTooLarge: the request exceeds what a server reads by default (jute.maxbuffer, 1 MiB).
	// Nothing was sent.
	ErrTooLarge = errors.New("request too large")
	// ErrNoNode: the node, or the parent of a node to be created, does not exist.
	ErrNoNode error = outcome.NoNode
	// ErrNodeExists: the node exists.
	ErrNodeExists error = outcome.NodeExists
	// ErrNotEmpty: the node has children.
	ErrNotEmpty = errors.New("node has children")
	// ErrNoAuth: the node's ACL does not allow it.
	ErrNoAuth error = outcome.NoAuth
	// ErrAuthFailed: the server refused a credential, or a client without one; or a SASL exchange failed for good
	// (WithSASL).
	ErrAuthFailed = errors.New("credential refused")
	// ErrBadVersion: the node's version is another one.
	ErrBadVersion = errors.New("version differs")
	// ErrNoChildrenForEphemerals: an ephemeral node cannot have children.
	ErrNoChildrenForEphemerals = errors.New("parent is ephemeral")
	// ErrQuota: a quota of the path does not allow it, until other nodes have gone.
	ErrQuota error = outcome.OverQuota
	// ErrLocalSession: the session is local to its server and cannot have an ephemeral node
	// (localSessionsEnabled without localSessionsUpgradingEnabled).
	ErrLocalSession error = outcome.LocalSession
	// ErrThrottled: the overloaded server has not carried the request out (ThrottledOp). It may
	// later.
	ErrThrottled = errors.New("throttled by the server")
	// ErrReadOnly: the server has lost its quorum and takes no writes. It, or another server, may
	// later.
	ErrReadOnly = errors.New("the server is read-only")
	// ErrSessionMoved: the session has moved to another server. The request was not carried out.
	ErrSessionMoved = errors.New("the session has moved to another server")
	// ErrRefused: the server gave another definite answer (an invalid ACL, bad arguments, an
	// operation that it does not know).
	ErrRefused = errors.New("refused by the server")
	// ErrClosed: the connection was closed, or its session has expired (then zk.ErrSessionExpired
	// is wrapped too). Nothing was sent, unless it comes with ErrUnknownOutcome.
	ErrClosed = errors.New("connection closed")
	// ErrUnavailable: no server could be reached; nothing was sent.
	ErrUnavailable = errors.New("no server available")
	// ErrSessionRemains: the servers are not known to have closed the session, so it may last until
	// it expires.
	ErrSessionRemains = errors.New("the session may remain")
	// ErrOtherSession: a server has handed out another session in place of saying that it does not
	// know ours, as ClickHouse Keeper, on every reconnect, and some proxies do. Expired and
	// CloseSession have it.
	ErrOtherSession = errors.New("the server handed out another session in place of ours")
	// ErrUnknownOutcome: the request may have been executed, or may yet be while the session lives.
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrHungUp: the server closed the connection in place of an answer. It comes with ErrUnknownOutcome.
	ErrHungUp = errors.New("the server hung up")
	// ErrServerError: the server answered with an error of its own, such as SystemError. It comes
	// with ErrUnknownOutcome.
	ErrServerError = errors.New("the server failed")
	// ErrNoAnswer: the server answered nothing until the connection was given up. It comes with
	// ErrUnknownOutcome.
	ErrNoAnswer = errors.New("the server did not answer")
)

// Error is the error of every operation of a Conn.
type Error struct {
	// Op is the operation, in one or two words.
	Op string
	// Path is the path as the caller gave it, without the chroot; in a transaction, that of the
	// part that failed.
	Path string
	// Err wraps one of this package's values, and the library's own error where there is one.
	Err error
}

// Error names the operation, the path and the cause.
func (e *Error) Error() string { return fmt.Sprintf("zkconn: %s %s: %v", e.Op, Shown(e.Path), e.Err) }

// Unwrap gives Err, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Shown returns a text of others, such as a path, for an error or a log: quoted if a terminal would
// act on a character of it, such as ESC.
func Shown(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
