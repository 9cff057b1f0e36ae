package machine

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Kind names an event.
type Kind uint8

// The events of a lock request.
const (
	Begin Kind = iota

	// Release, Cancel, Revoke, WatchContention and Check are the commands of package messages.
	Release
	Cancel
	Revoke
	WatchContention
	Check
	// Timeout: Acquire.Timeout has passed. GraceOver: Acquire.Grace has passed since RevokeRequested.
	Timeout
	GraceOver

	// Replies. Each carries the number of its operation.

	// Created: our node was made. The reply tells First, Predecessor and Exhausted.
	Created
	// NodeTaken: another request has the one node of the contest. The request waits for it without
	// a node.
	NodeTaken
	// NotCreated: no node was made, for good: refused, or withdrawn before it was sent.
	NotCreated
	// Listed: the queue as read.
	Listed
	// Watched: the predecessor exists, and an event will tell of its end.
	Watched
	// TurnCame: nobody is before us. The predecessor was the head of the queue, and gave the lock
	// back, or its node is gone.
	TurnCame
	// PredecessorGone: the predecessor's node is gone. It may have given up from the middle of the
	// queue.
	PredecessorGone
	// Changed: the queue has changed otherwise since it was listed.
	Changed
	// Poll: it is time to look at the queue or connection again.
	Poll
	// OwnRead: our own node was read and is watched; Unlock is set when its data asks for the lock.
	OwnRead
	// OwnChanged: our own node's data has changed.
	OwnChanged
	// NodeGone: our own node does not exist any more.
	NodeGone
	// Found: the answer to Verify. Node is our node, in this session; empty for none.
	Found
	// Deleted: our node is gone.
	Deleted
	// Refused: the server refused the operation for good.
	Refused
	// Unknown: nobody knows whether the operation was carried out.
	Unknown

	// Disconnected: the connection is lost, the session may live. Connected: it is back.
	Disconnected
	Connected
	// Silent: the connection is up, but heartbeats go unanswered, or nobody knows the outcome of a
	// Check. Told to holders only.
	Silent
	// Contended answers WatchContention, Checked answers Check. They have no number: they stay true
	// whatever was asked for since.
	Contended
	Checked
	// Expired: the session is over, or given up. Our node is gone, or goes with the old connection.
	Expired
	// LeaseOver: no transaction was acknowledged in time.
	LeaseOver
	// Closed: this program has closed the session, or it has failed for good.
	Closed

	kinds int = iota
)

var kindNames = [...]string{
	"Begin", "Release", "Cancel", "Revoke", "WatchContention", "Check", "Timeout", "GraceOver",
	"Created", "NodeTaken", "NotCreated", "Listed", "Watched", "TurnCame", "PredecessorGone", "Changed",
	"Poll", "OwnRead", "OwnChanged", "NodeGone", "Found", "Deleted", "Refused", "Unknown",
	"Disconnected", "Connected", "Silent", "Contended", "Checked", "Expired", "LeaseOver", "Closed",
}

// String gives the event's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Kinds lists every event.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Event is something that happened to a request.
type Event struct {
	Kind Kind
	// Op is the number of the operation that this answers; zero for none.
	Op uint64
	// Node is our node's name: Created, Found.
	Node string
	// Token is our fencing token: Created, Found.
	Token messages.Token
	// Places is how many places behind the token's no other node can have: Created, Found.
	Places int
	// Before counts all contenders before our node: Listed, where the request tells more.
	Before int
	// Predecessor is the contender before us: Created (of our own session, right before us),
	// NodeTaken, Listed.
	Predecessor string
	// First: nobody is before our node: Created, Listed.
	First bool
	// Missing: our node is not in the listing: Listed.
	Missing bool
	// Exhausted: our sequence number is too near the end of the counter: Created, Found.
	Exhausted bool
	// Unlock: our node's data asks for the lock.
	Unlock bool
	// Lease: the lease was valid when this was delivered.
	Lease bool
	// Overdue says why the lease of the grant is over, or was for a moment since; empty while it
	// has run without a gap.
	Overdue messages.Reason
	// Reason and Detail say why.
	Reason messages.Reason
	Detail string
	// Permits is the semaphore's number, where Reason is ReasonPermits; zero where it has none.
	Permits int
}

// ListedEvent tells a request its place in the queue. shown is false when the listing does not show
// its node.
func ListedEvent(op uint64, position queue.Position, shown bool) Event {
	return Event{
		Kind: Listed, Op: op,
		Missing:     !shown,
		First:       shown && position.Before == 0,
		Predecessor: position.Predecessor,
	}
}

// Do names an effect: work that the machine asks its shell to do.
type Do uint8

// The effects. Requests to the session carry the number of the operation, and so do their answers.
const (
	// Create makes our ephemeral sequential node. Answers: Created, NodeTaken, NotCreated, Unknown.
	Create Do = iota
	// Withdraw takes back a create that was not sent yet: it is answered NotCreated.
	Withdraw
	// List reads the queue. Answers: Listed, Refused, Unknown.
	List
	// Watch watches the predecessor. Answers: Watched; TurnCame, PredecessorGone or Changed (also
	// later); Refused, Unknown.
	Watch
	// WatchOwn reads and watches our own node. Answers: OwnRead, OwnChanged (later), NodeGone (also
	// later), Refused, Unknown.
	WatchOwn
	// Verify finds our node in this session, by a committed transaction; a sync alone proves
	// nothing. Answers: Found, Refused, Unknown.
	Verify
	// Delete deletes our node. Answers: Deleted, Refused, Unknown.
	Delete
	// GiveBack is Delete for a hold that its owner gave back: the next may be told before the node
	// is gone. A hold that is taken from its owner ends with Delete.
	GiveBack
	// WatchQueue watches for others in the queue of our node. Answer: Contended.
	WatchQueue
	// CheckOwn checks that our node exists, by a committed transaction. Answers: Checked, NodeGone,
	// Silent.
	CheckOwn
	// CleanUp has the session remove our node if there is one. There is no answer.
	CleanUp

	// StartPoll asks for Poll after about a session timeout; StartRetry after a short while.
	StartPoll
	StartRetry
	// StartTimeout and StartGrace ask for Timeout and GraceOver, if Acquire sets them.
	StartTimeout
	StartGrace

	// The Tell effects send the notice of that name.
	TellWaiting
	TellHeld
	TellWatched
	TellContended
	TellChecked
	TellSuspended
	TellResumed
	TellRevokeRequested
	TellRevoked
	TellReleased
	TellLost
	TellCancelled
	TellFailed

	// Halt: the event was impossible. The actor stops; the session cleans up.
	Halt
)

var doNames = [...]string{
	"Create", "Withdraw", "List", "Watch", "WatchOwn", "Verify", "Delete", "GiveBack", "WatchQueue", "CheckOwn", "CleanUp",
	"StartPoll", "StartRetry", "StartTimeout", "StartGrace",
	"TellWaiting", "TellHeld", "TellWatched", "TellContended", "TellChecked", "TellSuspended", "TellResumed",
	"TellRevokeRequested", "TellRevoked", "TellReleased", "TellLost", "TellCancelled", "TellFailed", "Halt",
}

// String gives the effect's name.
func (d Do) String() string {
	if int(d) < len(doNames) {
		return doNames[d]
	}
	return "unknown"
}

// Effect is one piece of work. Op is set where an answer is expected.
type Effect struct {
	Do   Do
	Op   uint64
	Node string
	// Ending: the request has been given up or given back, whatever is answered.
	Ending bool
}

// Effects holds the effects of one event, two at most, without allocating.
type Effects struct {
	list  [2]Effect
	count int
}

// All gives them in order.
func (e *Effects) All() []Effect { return e.list[:e.count] }

// String writes an effect as in traces: "Delete op=3 node".
func (e Effect) String() string {
	text := e.Do.String()
	if e.Op != 0 {
		text += fmt.Sprintf(" op=%d", e.Op)
	}
	if e.Node != "" {
		text += " " + e.Node
	}
	return text
}
