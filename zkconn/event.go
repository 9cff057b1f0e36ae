package zkconn

import (
	"fmt"
	"time"
)

// EventKind says what happened.
type EventKind uint8

const (
	// Connected: a server has granted or renewed the session, and the credentials have been accepted. No watch
	// survives a loss of connection: the owner sets again those it needs.
	Connected EventKind = iota + 1
	// Disconnected: the connection was lost. It comes once for each Connected, but not behind Expired.
	// The session may live on.
	Disconnected
	// Expired: the session is over. It comes once, as the last of the session's events. Err is nil
	// where a server has said so, in its answer to a reconnect or to a request. Otherwise Err says
	// why nothing more is to be had from it: no server has renewed it for a session timeout, or one
	// has handed out another session in its place (ErrOtherSession).
	Expired
	// AuthFailed: a server refused a credential, or a client without one, and will have closed the connection; or a
	// SASL exchange failed for good (WithSASL). The Conn goes on trying, with backoff.
	AuthFailed
	// Lapsed: the chain of evidence is broken, so no lease may rest on this session any more. The
	// session may live on, and its connection serves what needs no lease. It comes once at most,
	// also before a Connected.
	Lapsed
	// NodeCreated: a watched node was created.
	NodeCreated
	// NodeDeleted: a watched node was deleted.
	NodeDeleted
	// NodeDataChanged: a watched node's data was set.
	NodeDataChanged
	// NodeChildrenChanged: a watched node's children changed.
	NodeChildrenChanged
)

var eventKindNames = [...]string{
	Connected:           "connected",
	Disconnected:        "disconnected",
	Expired:             "expired",
	AuthFailed:          "auth failed",
	Lapsed:              "lapsed",
	NodeCreated:         "node created",
	NodeDeleted:         "node deleted",
	NodeDataChanged:     "node data changed",
	NodeChildrenChanged: "node children changed",
}

// String gives the kind in lower case.
func (k EventKind) String() string {
	if int(k) < len(eventKindNames) && eventKindNames[k] != "" {
		return eventKindNames[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Event is something that happened to the session or to a watched node.
type Event struct {
	Kind EventKind
	// Epoch is the number the Conn was dialed with.
	Epoch uint64
	// Path is the watched node, without the chroot; empty for events of the session.
	Path string
	// SessionID is the session; 0 when none has been granted yet.
	SessionID int64
	// Timeout is the session timeout that the server granted; 0 when none has been granted yet.
	Timeout time.Duration
	// Server is the address last connected to, for events of the session.
	Server string
	// Err is the cause of Disconnected, AuthFailed and Expired; it names the server where there is one.
	Err error
	// At is when the event was reported here, with a monotonic reading.
	At time.Time
}
