package machine_test

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The live states, as the table names them.
const (
	none      = messages.StateNone
	creating  = messages.StateCreating
	listing   = messages.StateListing
	watching  = messages.StateWatching
	held      = messages.StateHeld
	revoking  = messages.StateRevoking
	recovery  = messages.StateRecovering
	releasing = messages.StateReleasing
)

type (
	states = []messages.State
	kinds  = []machine.Kind
)

// begun are the live states of a request that has begun.
var begun = states{creating, listing, watching, held, revoking, recovery, releasing}

// impossible lists every pair of a live state and an event that has no row, and says why none is
// needed. Replies are impossible where the current operation has no such answer, because a reply to
// any other operation is stale: every way out of a state starts an operation, or counts on as
// Disconnected does. The exception is withdraw, which waits for the answer to the create.
var impossible = []struct {
	because string
	in      states
	on      kinds
}{
	{"a request begins once, with its actor's first message", begun, kinds{machine.Begin}},
	{"the lock actor begins with Begin (or Refused), whatever waits in its mailbox; before that the session " +
		"does not know it, no timer runs, and no operation is under way",
		states{none}, except(machine.Begin, machine.Refused)},

	{"only Create is answered so: its operation is current in creating, and in releasing while withdrawn",
		states{listing, watching, held, revoking, recovery}, kinds{machine.Created, machine.NodeTaken, machine.NotCreated}},
	{"Create is refused by NotCreated", states{creating}, kinds{machine.Refused}},
	{"only List is answered so: its operation is current in listing alone",
		states{creating, watching, held, revoking, recovery, releasing}, kinds{machine.Listed}},
	{"only Watch is answered so: its operation is current in watching alone",
		states{creating, listing, held, revoking, recovery, releasing},
		kinds{machine.Watched, machine.TurnCame, machine.PredecessorGone, machine.Changed}},
	{"only WatchOwn is answered so: its operation is current in held and revoking alone",
		states{creating, listing, watching, recovery, releasing}, kinds{machine.OwnRead, machine.OwnChanged}},
	{"only Verify is answered so: its operation is current in recovering, and in releasing",
		states{creating, listing, watching, held, revoking}, kinds{machine.Found}},
	{"only a delete is answered so: its operation is current in releasing alone",
		states{creating, listing, watching, held, revoking, recovery}, kinds{machine.Deleted}},
	{"StartPoll is asked for in watching, StartRetry in recovering: leaving voids the timer",
		states{creating, listing, held, revoking, releasing}, kinds{machine.Poll}},

	{"the session says so only of a node that it knows, and knows none once it has told Found without one, or " +
		"Expired: session promise", states{creating}, kinds{machine.NodeGone}},
	{"the session says so to holders only, and no way leads from holding to waiting",
		states{creating, listing, watching}, kinds{machine.Silent, machine.Contended, machine.Checked}},
	{"a grace period begins with revoking, and no way leads from there to waiting or back to held",
		states{creating, listing, watching, held}, kinds{machine.GraceOver}},
	{"these states are reached only while the connection is up, and Disconnected leads out of them: " +
		"Connected without Disconnected before it is against the session's promise",
		states{listing, watching, held, revoking}, kinds{machine.Connected}},
	{"Expired without Disconnected before it is against the session's promise, and Disconnected leads out",
		states{listing, watching, held, revoking}, kinds{machine.Expired}},
}

// except lists all events but these.
func except(these ...machine.Kind) kinds {
	var others kinds
	for _, k := range machine.Kinds() {
		kept := true
		for _, this := range these {
			kept = kept && k != this
		}
		if kept {
			others = append(others, k)
		}
	}
	return others
}
