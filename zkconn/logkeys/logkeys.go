// Package logkeys has the keys of all log records of Turnstile, for filters and alerts. A record
// about a lock request has Path, Node, State, Session and Token; one about a session Session and
// Epoch where they are known; one about a connection Server. The package imports none of
// Turnstile's.
package logkeys

import (
	"fmt"
	"log/slog"
)

// The keys.
const (
	Path    = "path"
	Node    = "node"    // the name of the contender's node, "" for none
	State   = "state"   // of the request: messages.State in a word
	From    = "from"    // the state before
	Event   = "event"   // what has happened to a request: machine.Kind in a word
	Reason  = "reason"  // why a request ends: messages.Reason
	Token   = "token"   // the fencing token, 0 before the grant
	Session = "session" // the session's id: 0x and hexadecimal digits, as ZooKeeper logs it; 0x0 before the first
	Epoch   = "epoch"   // the number of the session, from 1, for each session actor
	Server  = "server"  // host and port
	Timeout = "timeout" // the session timeout that was granted
	Error   = "error"
	Effect  = "effect"  // what a lock actor asks the session for
	Tries   = "tries"   // how often it was tried
	Existed = "existed" // whether a session was still there
	Took    = "took"
	Wait    = "wait"
	Panic   = "panic" // what was recovered
	Stack   = "stack"
	Text    = "text" // what the ZooKeeper library says
	// FastPaths are those that are switched off.
	FastPaths = "fast_paths"
)

// SessionID is a session id as records have it.
type SessionID int64

// LogValue writes it when a record is really made.
func (id SessionID) LogValue() slog.Value { return slog.StringValue(id.String()) }

// String writes it as ZooKeeper does.
func (id SessionID) String() string { return fmt.Sprintf("0x%x", uint64(id)) }
