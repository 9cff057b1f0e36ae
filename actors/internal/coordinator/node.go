package coordinator

import "github.com/turnstile-locks/turnstile/messages"

// RequestID names a lock request within one session; later requests have greater IDs.
type RequestID uint64

// node is a contender node of this session, or a node that may come to be.
type node struct {
	phase      phase
	lost       bool   // the outcome of a create of it is unknown, and it may have been sent
	batchMates bool   // its transaction made others of the path: the places behind its own are theirs
	number     int32  // its sequence number
	name       string // "" until it is known
	of         RequestID
	attempt    uint16 // of its request to make a node: see Spec.guid
	place      int    // among the creates of its lock path in one transaction
	// under is the watch of the lock path that stood when it was asked for; zero for none.
	under uint64
	token messages.Token
	// successor is the node of this session that was right behind it when its holder left. Its
	// request has the lock now, or is to have it.
	successor *node
	checked   uint64 // the newest heartbeat that has checked it
}

// phase says how much is known of a node.
type phase uint8

const (
	// absent: there is no node, and nothing is under way that could make one.
	absent phase = iota
	// creating: a create waits or is under way, the only one.
	creating
	// present: it was made, and its name is known; it is in its queue. It may be gone without our knowing.
	present
	// deleting: as present, but its delete was asked for. Nobody relies on it.
	deleting
	// unknown: the outcome of the create is unknown. Its name is not known, or not sure.
	unknown
)

func (n *node) exists() bool { return n.phase == present || n.phase == deleting }

// nextHolder gives the node that must exist when this one is deleted: the node of the request that
// has the lock now, or is to have it. It is nil where the lock went to no request of this session,
// or where that request has given it back, too.
func (n *node) nextHolder() *node {
	for n.successor != nil && n.successor.phase == deleting { // the lock has been handed on meanwhile
		n.successor = n.successor.successor
	}
	if next := n.successor; next != nil && next.phase == present {
		return next
	}
	return nil
}

// checkedBefore reports whether it is a node's turn to be checked before another's.
func (n *node) checkedBefore(other *node) bool {
	if n.checked != other.checked {
		return n.checked < other.checked
	}
	return n.token < other.token || n.token == other.token && n.name < other.name
}
