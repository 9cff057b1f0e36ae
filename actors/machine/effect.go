package machine

import "fmt"

// Do names an effect: work that the machine asks its shell to do.
type Do uint8

// The effects. Requests to the session carry the number of the operation; their answers bring it back.
const (
	// Create makes our ephemeral sequential node. Answers: Created, Joined, Taken, NotCreated, Unknown.
	Create Do = iota
	// Withdraw takes a create back that was not sent yet: it is answered NotCreated. One that is
	// under way is answered as ever.
	Withdraw
	// List reads the queue. Answers: Listed, Refused, Unknown.
	List
	// Watch watches the predecessor. Answers: Watched; TurnCame, PredecessorGone or Changed (also later); Refused,
	// Unknown.
	Watch
	// WatchOwn reads and watches our own node. Answers: OwnRead, OwnChanged (later), NodeGone (also
	// later), Refused, Unknown.
	WatchOwn
	// Verify finds out, with a transaction or a sync, whether our node exists in this session.
	// Answers: Found, Refused, Unknown.
	Verify
	// Delete deletes our node. Answers: Deleted, Left, Refused, Unknown.
	Delete
	// GiveBack deletes the node of a hold that its owner has given back: the one behind may be told so before the
	// node is gone. It is answered as Delete. A hold that is taken from its owner, who may only just hear of it, ends
	// with Delete.
	GiveBack
	// CleanUp leaves it to the session to remove what may be left of our node. There is no answer.
	CleanUp

	// StartPoll asks for Poll after about a session timeout; StartRetry after a short while.
	StartPoll
	StartRetry
	// StartTimeout and StartGrace ask for Timeout and GraceOver, if Acquire sets them.
	StartTimeout
	StartGrace

	// The Tell effects send the notice of that name.
	TellHeld
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
	"Create", "Withdraw", "List", "Watch", "WatchOwn", "Verify", "Delete", "GiveBack", "CleanUp",
	"StartPoll", "StartRetry", "StartTimeout", "StartGrace",
	"TellHeld", "TellSuspended", "TellResumed", "TellRevokeRequested", "TellRevoked",
	"TellReleased", "TellLost", "TellCancelled", "TellFailed", "Halt",
}

// String gives the effect's name.
func (d Do) String() string {
	if int(d) < len(doNames) {
		return doNames[d]
	}
	return "unknown"
}

// Effect is one piece of work. Op is set where an answer is expected, Node where it is about one.
type Effect struct {
	Do   Do
	Op   uint64
	Node string
	// Ending: the request has been given up or back, whatever the answer is.
	Ending bool
}

// Effects are what one event leads to: never more than two effects, so that they need no memory of their own.
type Effects struct {
	list  [2]Effect
	count int
}

// All gives them in the order in which they are to be carried out.
func (e *Effects) All() []Effect { return e.list[:e.count] }

// String writes an effect as the traces show it: "Delete op=3 node".
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
