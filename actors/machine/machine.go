package machine

import "github.com/turnstile-locks/turnstile/messages"

// Machine is the whole state of one lock request. It is a value: Step returns the next one and leaves
// the old as it was. Make one with [New].
type Machine struct {
	// State is where the request stands.
	State messages.State
	// From is the state that recovering came from: what is to be found again.
	From messages.State
	// Ending is the terminal state that releasing leads to.
	Ending messages.State
	// Op is the number of the current operation.
	Op uint64
	// Node is our node's name, "" while we know of none.
	Node string
	// Token is our fencing token; zero while we know of no node.
	Token messages.Token
	// Predecessor is whom we wait for.
	Predecessor string
	// Reason and Detail say why the request ends.
	Reason messages.Reason
	Detail string
	// Try: give up instead of waiting.
	Try bool
}

// New makes the machine of a request that has not begun.
func New(try bool) Machine { return Machine{Try: try} }

// Holding tells whether the lock is held, or was when the connection was lost and may still be.
func (m Machine) Holding() bool {
	return m.State.Holding() || m.State == messages.StateRecovering && m.From.Holding()
}

// Stale tells whether an event answers an operation that has been superseded.
func (m Machine) Stale(ev Event) bool { return ev.Op != 0 && ev.Op != m.Op }

// Step takes one event and gives the next machine and the work to do. Stale events, and all that come
// after the end, change nothing. An impossible event gives the one effect Halt.
func (m Machine) Step(ev Event) (Machine, []Effect) {
	next, effects, _ := m.Explain(ev)
	return next, effects
}

// Explain is Step that also gives the row which fired; nil where none did.
func (m Machine) Explain(ev Event) (Machine, []Effect, *Row) {
	effects, row := m.Take(ev)
	if effects.count == 0 {
		return m, nil, row
	}
	return m, effects.All(), row
}

// Take is Explain in place, for a shell that has one machine and keeps no older ones.
func (m *Machine) Take(ev Event) (Effects, *Row) {
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
	return effect(Effect{Do: Halt}), nil
}
