package messages

// State is the state of a lock request.
type State uint8

const (
	// StateNone is the pseudo-state before the first event, and the From of the first transition:
	// [*] in the diagram.
	StateNone State = iota
	// StateCreating: our ephemeral sequential node is asked for.
	StateCreating
	// StateListing: the queue is being read.
	StateListing
	// StateWatching: a predecessor exists and is watched.
	StateWatching
	// StateHeld: the lock is ours.
	StateHeld
	// StateRevoking: held, and somebody has asked for the lock; a grace deadline may run.
	StateRevoking
	// StateRecovering: the connection is down or an outcome is unknown. The request remembers the
	// state before.
	StateRecovering
	// StateReleasing: the delete of the node is on its way, or will be once it is known whether
	// there is one.
	StateReleasing
	// StateReleased: terminal. The lock was held and has been given back; the node is gone.
	StateReleased
	// StateLost: terminal. The lock was held and is no longer ours.
	StateLost
	// StateCancelled: terminal. Given up before it was held; no node is left.
	StateCancelled
	// StateFailed: terminal. The lock could not be acquired, or could not be given back.
	StateFailed
)

var stateNames = [...]string{
	"none", "creating", "listing", "watching", "held", "revoking", "recovering", "releasing",
	"released", "lost", "cancelled", "failed",
}

// States lists the states in the order of their declaration, without StateNone.
func States() []State {
	states := make([]State, 0, len(stateNames)-1)
	for s := StateCreating; s <= StateFailed; s++ {
		states = append(states, s)
	}
	return states
}

// String gives the state's name, such as "creating".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// Terminal reports whether a request in this state has ended. A terminal state is never left.
func (s State) Terminal() bool { return s >= StateReleased && s <= StateFailed }

// Holding reports whether the lock is ours in this state. A recovering request's lease decides
// that.
func (s State) Holding() bool { return s == StateHeld || s == StateRevoking }
