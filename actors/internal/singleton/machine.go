package singleton

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Phase is the phase of a singleton on this node.
type Phase uint8

// The phases.
const (
	// Paused: it waits until it campaigns. Invariant: no child runs, and no lock is held.
	Paused Phase = iota
	// Campaigning: its lock actor waits for the lock. Invariant: no child runs.
	Campaigning
	// Active: the lock was granted, and the child runs. Invariant: there is one child.
	Active
	// Stopping: the child is being stopped, and the lock is kept until it has ended.
	Stopping
	// Lost: the lock is gone, and the child is being stopped. Another may run elsewhere.
	Lost
	// Releasing: the lock is being given back. Invariant: no child runs.
	Releasing
	// Ended: nothing follows.
	Ended
)

var phaseNames = [...]string{"paused", "campaigning", "active", "stopping", "lost", "releasing", "ended"}

// String gives the phase's name: "paused", "campaigning", …
func (p Phase) String() string { return phaseNames[p] }

// Then is the next step when the lock is gone and no child runs.
type Then uint8

// The next steps. A greater one replaces a smaller one.
const (
	// Again: it campaigns again, after a pause.
	Again Then = iota
	// StayOut: it campaigns again, and so much later that another node can win.
	StayOut
	// End: it ends.
	End
)

// Kind is the kind of an event.
type Kind uint8

// The events.
const (
	// Begin: the actor has started.
	Begin Kind = iota
	// PauseOver: the pause of a paused singleton is over.
	PauseOver
	// Held: the lock is granted. Event.Valid: its lease runs now.
	Held
	// Asked: a revoke request has come.
	Asked
	// Gone: the lock is not ours any more; its actor has not ended.
	Gone
	// LockEnded: the lock actor has ended. Event.Passes: a new campaign may succeed;
	// where it may not, Event.Reason and Event.Detail say why.
	LockEnded
	// ChildRestarted: the supervisor restarts the child.
	ChildRestarted
	// ChildEnded: the child has ended, or could not be spawned.
	ChildEnded
	// Close: the session is about to close.
	Close
	// Stop: the singleton is stopped from outside, or restarted. The actor system stops its child.
	Stop
)

var kindNames = [...]string{"Begin", "PauseOver", "Held", "Asked", "Gone", "LockEnded", "ChildRestarted",
	"ChildEnded", "Close", "Stop"}

// String gives the event's name.
func (k Kind) String() string { return kindNames[k] }

// Kinds lists the events.
func Kinds() []Kind {
	all := make([]Kind, len(kindNames))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Event is one thing that happened. At is the time on any clock that does not go back.
type Event struct {
	Kind          Kind
	At            time.Duration
	Valid, Passes bool
	Reason        messages.Reason
	Detail        string
}

// Effect is an instruction to the shell.
type Effect uint8

// The effects. The shell carries them out in order.
const (
	// Campaign spawns a lock actor.
	Campaign Effect = iota
	// SpawnChild spawns the user's actor under the lock that is held.
	SpawnChild
	// EndContext ends the context of the child.
	EndContext
	// StopChild stops the child. More than once does no harm.
	StopChild
	// Release gives the lock back, or the campaign up.
	Release
	// Pause sends PauseOver soon, later each time.
	Pause
	// LongPause sends PauseOver when another node had time to win.
	LongPause
	// Finish stops the actor; Machine.Reason says why where it ends by itself.
	Finish
)

var effectNames = [...]string{"Campaign", "SpawnChild", "EndContext", "StopChild", "Release", "Pause",
	"LongPause", "Finish"}

// String gives the effect's name.
func (e Effect) String() string { return effectNames[e] }

// Machine is one singleton. The zero value has not begun, and bears no failure.
type Machine struct {
	Phase Phase
	Then  Then
	// After Failures restarts and ends of the child within Within, the lock goes to another node.
	Failures int
	Within   time.Duration
	// Failed has the times of the failures that count.
	Failed []time.Duration
	// Reason and Detail say why it ends by itself.
	Reason messages.Reason
	Detail string
}

// Step takes one event and gives its effects. An event that has no meaning in the phase changes
// nothing.
func (m *Machine) Step(ev Event) []Effect {
	switch m.Phase {
	case Paused:
		return m.paused(ev)
	case Campaigning:
		return m.campaigning(ev)
	case Active:
		return m.active(ev)
	case Stopping:
		return m.stopping(ev)
	case Lost:
		return m.lost(ev)
	case Releasing:
		return m.releasing(ev)
	}
	return nil
}

func (m *Machine) paused(ev Event) []Effect {
	switch ev.Kind {
	case Begin, PauseOver:
		m.Phase = Campaigning
		return []Effect{Campaign}
	case Close, Stop:
		return m.ends(ev).next()
	}
	return nil
}

func (m *Machine) campaigning(ev Event) []Effect {
	switch ev.Kind {
	case Held:
		if !ev.Valid { // the lock actor is about to tell of the loss
			return nil
		}
		m.Phase = Active
		return []Effect{SpawnChild}
	case LockEnded:
		return m.ends(ev).next()
	case Close, Stop:
		return append([]Effect{Release}, m.ends(ev).next()...)
	}
	return nil
}

func (m *Machine) active(ev Event) []Effect {
	switch ev.Kind {
	case Gone, LockEnded:
		m.ends(ev).Phase = Lost
		return []Effect{EndContext, StopChild}
	case Asked, Close, Stop:
		m.ends(ev).Phase = Stopping
		return []Effect{EndContext, StopChild}
	case ChildRestarted:
		if !m.tooMany(ev.At) {
			return nil
		}
		m.Phase, m.Then = Stopping, StayOut
		return []Effect{EndContext, StopChild}
	case ChildEnded:
		switch {
		case !ev.Valid: // the loss is not told yet: the end of a child overtakes the end of the lock
			m.Phase = Releasing
			return []Effect{EndContext, Release}
		case !m.tooMany(ev.At):
			return []Effect{SpawnChild}
		}
		m.Phase, m.Then = Releasing, StayOut
		return []Effect{EndContext, Release}
	}
	return nil
}

func (m *Machine) stopping(ev Event) []Effect {
	switch ev.Kind {
	case Gone, LockEnded:
		m.ends(ev).Phase = Lost
	case Close, Stop:
		m.ends(ev)
	case ChildRestarted: // it panicked while it was being stopped, and would go on
		return []Effect{StopChild}
	case ChildEnded:
		if m.Then == End {
			return append([]Effect{Release}, m.next()...)
		}
		m.Phase = Releasing
		return []Effect{Release}
	}
	return nil
}

func (m *Machine) lost(ev Event) []Effect {
	switch ev.Kind {
	case LockEnded, Close, Stop:
		m.ends(ev)
	case ChildRestarted:
		return []Effect{StopChild}
	case ChildEnded:
		return m.next()
	}
	return nil
}

func (m *Machine) releasing(ev Event) []Effect {
	switch ev.Kind {
	case LockEnded, Close, Stop:
		return m.ends(ev).next()
	}
	return nil
}

// ends notes that the singleton is to end, where the event says so.
func (m *Machine) ends(ev Event) *Machine {
	switch {
	case ev.Kind == LockEnded && !ev.Passes, ev.Kind == Close:
		m.Then, m.Reason, m.Detail = End, ev.Reason, ev.Detail
	case ev.Kind == Stop:
		m.Then = End
	}
	return m
}

// next gives the next step when the lock is gone and no child runs.
func (m *Machine) next() []Effect {
	then := m.Then
	switch then {
	case End:
		m.Phase = Ended
		return []Effect{Finish}
	case StayOut:
		m.Phase, m.Then, m.Failed = Paused, Again, nil
		return []Effect{LongPause}
	}
	m.Phase = Paused
	return []Effect{Pause}
}

// tooMany counts a failure of the child, and reports whether it has had too many.
func (m *Machine) tooMany(at time.Duration) bool {
	m.Failed = slices.DeleteFunc(m.Failed, func(before time.Duration) bool { return at-before >= m.Within })
	m.Failed = append(m.Failed, at)
	return len(m.Failed) >= m.Failures
}

// Ends reports whether the singleton is to end: no further child will be spawned.
func (m *Machine) Ends() bool { return m.Phase == Ended || m.Then == End }
