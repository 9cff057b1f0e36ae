package coordinator

import "github.com/turnstile-locks/turnstile/messages"

// node is a contender node of this session, or a node that may come to be.
type node struct {
	phase phase
	name  string // "" until it is known
	// guid is in its name, or in the data of a contest's node; by is the address of the actor that asked for it first.
	guid, by   string
	guard      string // of a contest's node: the name of its guard; "" where it is not known
	number     int32  // its sequence number
	place      int    // among the creates of its lock path in one transaction
	lost       bool   // the outcome of a create of it is unknown, and it may have been sent
	batchMates bool   // that transaction made others of the path: the places behind its own are theirs
	// under is the watch of the lock path that stood when it was asked for; zero for none.
	under     uint64
	wanted    bool // its data say that somebody wants the lock back
	givenBack bool // the last of an exclusive cohort has given it back: it is the head of its queue until it goes
	token     messages.Token
	arrivals  arrivals
	// users are the requests that hold or wait with the node: several where a hold is shared; of a
	// retained node, its last holder.
	users []RequestID
	// successor is the node of this session that was right behind it when its holder left. Its
	// request has the lock now, or is to have it.
	successor *node
	// line are the readers without a node that are to hold with this one, too: see cohort.go.
	line    []RequestID
	checked uint64 // the newest heartbeat that has checked it
	says    description
	// made is the Spec of the request that it is made for; nil for a node that was left.
	made *Spec
	// counted says how it is counted; goes: it is given up so that others have room.
	counted counted
	goes    bool
}

// counted says how a node is counted in the bounds of its queue and its session: see room.go.
type counted struct{ weighs, waiting, coming bool }

// newNode makes the absent node of a request.
func newNode(sp *Spec) *node { return &node{guid: sp.GUID, by: sp.By, made: sp} }

// description describes the data of a node, as far as they are known.
type description struct {
	of     RequestID // the request that they name; zero where that is not known
	due    bool      // the last look has found that they are wrong
	number uint64    // of the newest write
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
	// retained: as present, and nobody holds with it: the queue has it, for the next request.
	retained
	// leftToOthers: the request has left its node, which was retained or shared and belongs to another
	// request by now.
	leftToOthers
)

// arrivals says whether others have come to the queue of a node that was retained, or whose holder is to
// be told of them.
type arrivals uint8

const (
	// arrivalsUnwatched: nothing.
	arrivalsUnwatched arrivals = iota
	// arrivalsWatched: nobody has come, and the watch will tell of the first to come.
	arrivalsWatched
	// othersCame: somebody has come, or the watch is spent.
	othersCame
)

// described names the node for people.
func (n *node) described() string {
	if n.name == "" {
		return "a node that has no name yet"
	}
	return "node " + n.name
}

// exists reports whether the node is in its queue.
func (n *node) exists() bool { return n.phase == present || n.phase == deleting || n.phase == retained }

// hasNextToken reports whether the token of a node has a next place that no other node's token has
// or will have. The places behind its own belong to nodes that were made in the same transaction.
func (n *node) hasNextToken() bool { return !n.batchMates && n.token.Place() < messages.MaxPlace }

// nextToken gives the token of its next grant, where it has one.
func (n *node) nextToken() messages.Token { return n.token + 1 }

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
