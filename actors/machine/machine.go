package machine

import (
	"cmp"

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
	// Want is what is asked for, which conditions judge. It does not change.
	Want *messages.Acquire
	// Counted: Waiting was told of our node. Unwatched: Watched is owed for this hold, or since
	// it was resumed.
	Counted, Unwatched bool
}

// New makes the machine of a request that has not begun.
func New(want *messages.Acquire) Machine { return Machine{Want: want} }

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

func (m *Machine) adopt(e Event) {
	if e.Node != "" {
		m.Node, m.Token, m.Places = e.Node, e.Token, e.Places
	}
}

func (m *Machine) end(as messages.State, why messages.Reason, detail string) {
	m.Ending, m.Reason, m.Detail = as, why, detail
}

func (m *Machine) recover() {
	if m.State != messages.StateRecovering {
		m.From = m.State
	}
}

// Step takes one event. It gives the work to do, and the row that fired or nil. Stale events, and
// all after the end, change nothing. An impossible event gives Halt.
//
// A paused process may hear anything first. So for an event that is Overdue, Step takes LeaseOver
// instead, with that reason, and the lock is lost. A LeaseOver that is not Overdue is of a lease
// before this grant, and is dropped.
func (m *Machine) Step(ev Event) (Effects, *Row) {
	if m.Holding() {
		switch {
		case ev.Kind == LeaseOver && ev.Overdue == "":
			return Effects{}, nil
		case ev.Overdue != "" && (m.Stale(ev) || !saysMore[ev.Kind]):
			over := Event{Kind: LeaseOver, Reason: ev.Overdue}
			if ev.Kind == Disconnected { // the connection went with the session, where there is a reason
				over.Reason = cmp.Or(ev.Reason, over.Reason)
			}
			return m.take(over)
		}
	}
	return m.take(ev)
}

// saysMore has the events that end a hold also while its lease is valid, and tell the reason better
// than LeaseOver.
var saysMore = [kinds]bool{Expired: true, Closed: true, NodeGone: true}

func (m *Machine) take(ev Event) (Effects, *Row) {
	if m.State.Terminal() || m.Stale(ev) {
		return Effects{}, nil
	}
	for _, row := range index[m.State][ev.Kind] {
		if row.If.Holds(*m, ev) {
			effects := row.Do.Run(m, ev)
			m.State = row.To
			return effects, row
		}
	}
	return effects(Effect{Do: Halt}), nil
}

// Explain is Step on a copy, Overdue or not. It gives the next machine, the work to do, and the row
// that fires or nil.
func (m Machine) Explain(ev Event) (Machine, []Effect, *Row) {
	effects, row := m.take(ev)
	return m, effects.All(), row
}
