package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Mistake is something that is done wrong at the boundary of what is walked. Nil functions change nothing.
type Mistake struct {
	// Outputs changes what a coordinator decides, Inputs what it is told, At what it is told of the lease.
	Outputs func(w *world, s int, out coordinator.Output) []coordinator.Output
	Inputs  func(w *world, s int, in coordinator.Input) coordinator.Input
	At      func(coordinator.At) coordinator.At
	// Servers is what the servers, or the functions that ask them, do wrong.
	Servers ServerMistake
}

// ServerMistake is a mistake of the servers, or of how they are asked.
type ServerMistake uint8

// The mistakes.
const (
	NoServerMistake ServerMistake = iota
	// ExpireEarly lets the servers end a session before its lease is over.
	ExpireEarly
	// FindWithoutSync looks for a node on a server that may lag behind.
	FindWithoutSync
	// FindAnyOwners takes a node with the GUID for the request's, whichever session owns it.
	FindAnyOwners
	// WatchTheGone leaves a watch on a node that is gone already, as exists() would.
	WatchTheGone
	// TokenBySequence takes the sequence number for the czxid.
	TokenBySequence
	// WatchWithoutLooking has the servers tell of contenders behind a retained node, and does not look for them first.
	WatchWithoutLooking
	// DeleteRegardless deletes a holder's node though the node of the next holder may be gone.
	DeleteRegardless
	// RemoveByName deletes the one node of a contest whoever has made it.
	RemoveByName
)

// mistake tells whether the plan has a mistake of the servers.
func (w *world) mistake(m ServerMistake) bool {
	return w.plan.Mistake != nil && w.plan.Mistake.Servers == m
}

// input is what a coordinator is told instead of in; nil for nothing.
func (m *Mistake) input(w *world, s int, in coordinator.Input) coordinator.Input {
	if m == nil || m.Inputs == nil {
		return in
	}
	return m.Inputs(w, s, in)
}

// at is what a coordinator is told of the lease.
func (m *Mistake) at(at coordinator.At) coordinator.At {
	if m == nil || m.At == nil {
		return at
	}
	return m.At(at)
}
