package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Mistake is a mistake at the boundary of the code that is walked. The zero value is no mistake.
type Mistake struct {
	// Outputs changes what a coordinator decides, Inputs what it is told, At what it is told of the lease.
	Outputs func(w *world, s int, out coordinator.Output) []coordinator.Output
	Inputs  func(w *world, s int, in coordinator.Input) coordinator.Input
	At      func(coordinator.At) coordinator.At
	// EndsEarly: the servers may end a session before its lease is over. Unsynced: a Find looks for a node on a server
	// that may lag behind. Outlasts: the lease goes on when the chain of evidence breaks. Revives: a transaction renews it
	// after that.
	EndsEarly, Unsynced, Outlasts, Revives bool
}

// input gives the input that a coordinator is told instead of in; nil for nothing.
func (m *Mistake) input(w *world, s int, in coordinator.Input) coordinator.Input {
	if m.Inputs != nil {
		return m.Inputs(w, s, in)
	}
	return in
}

// at gives the readings that a coordinator is told: time and lease.
func (m *Mistake) at(at coordinator.At) coordinator.At {
	if m.At != nil {
		return m.At(at)
	}
	return at
}
