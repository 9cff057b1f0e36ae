package machine

import (
	"github.com/turnstile-locks/turnstile/messages"
)

// Machine is the whole state of one lock request, as a value.
type Machine struct {
	State messages.State
	// From is the state before recovering, which decides where that leads.
	From messages.State
	// Ending is the terminal state that releasing leads to.
	Ending messages.State
	Op     uint64
	// Node is our node's name, "" for none.
	Node string
	// Token is our fencing token; zero without a node.
	Token messages.Token
	// Predecessor is the node that the request waits for.
	Predecessor string
	// Reason and Detail say why the request ends.
	Reason messages.Reason
	Detail string
	// Places is the number of places behind the token's that are ours alone.
	Places int
	Flags
	// Counted: Waiting was told of our node. Unwatched: Watched is owed for this hold, or since
	// it was resumed.
	Counted, Unwatched bool
}

// Flags are what rows judge of the request: see messages.Acquire.
type Flags struct{ Try, TellMore bool }

// New makes the machine of a request that has not begun.
func New(want *messages.Acquire) Machine { return Machine{Flags: Flags{want.Try, want.TellMore}} }

// Holding reports whether the lock is held, or may still be after the connection was lost.
func (m Machine) Holding() bool {
	return m.State.Holding() || m.State == messages.StateRecovering && m.From.Holding()
}

// Stale reports whether an event answers an operation that has been superseded.
func (m Machine) Stale(ev Event) bool { return ev.Op != 0 && ev.Op != m.Op }

// start begins a new operation: answers to older ones become stale.
func (m *Machine) start(do Do, node string) Effect {
	m.Op++
	return Effect{Do: do, Op: m.Op, Node: node, Ending: m.Ending != messages.StateNone}
}

func (m *Machine) dropNode() {
	m.Node, m.Token, m.Places, m.Predecessor, m.Counted = "", 0, 0, "", false
}

func (m *Machine) adopt(e Event) { m.Node, m.Token, m.Places = e.Node, e.Token, e.Places }

func (m *Machine) end(as messages.State, why messages.Reason, detail string) {
	m.Ending, m.Reason, m.Detail = as, why, detail
}

func (m *Machine) recover() {
	if m.State != messages.StateRecovering {
		m.From = m.State
	}
}
