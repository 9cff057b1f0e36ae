package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// CallID names a call, HoldID a hold, by a slot and the number of its use, so that of an ended one
// names nothing. Zero is none.
type (
	CallID uint64
	HoldID uint64
)

// Moment is the shell's reading of its clocks at an input.
type Moment struct {
	// At is the time since some start, by a clock that never goes back.
	At    time.Duration
	Lease Lease
}

// Lease reports whether a term of the lease is unbroken, and valid by the clock.
type Lease interface {
	Unbroken(epoch, term uint64) bool
}

// Do says what an output asks for.
type Do uint8

const (
	// Grant: Call holds from now on, with Hold and Token.
	Grant Do = iota
	// Refuse: Call has ended and never held. Reason and Detail say why; Hold is its owner's that is
	// in its way, or 0.
	Refuse
	// Tell: Call, which holds, is in State from now on. StateRevoking has the Deadline of its
	// grace, or 0; StateReleased with ReasonRevoked and StateLost end it.
	Tell
	// Ask: spawn a lock actor for Hold, as Call asks (Ordered). Beside is the hold whose place it
	// takes, a downgrade. Shared: several calls may have it, and its data name no owner.
	Ask
	// Cancel: cancel the lock actor of Hold.
	Cancel
	// Release: have the lock actor of Hold give the lock back.
	Release
	// Check: have a committed transaction check the node of Hold, and answer with Checked.
	Check
	// WatchContention: list the queue of Hold with a watch. When that shows another contender,
	// answer with Contended.
	WatchContention
	// SetTimer: call Timer with Call or Hold at the time Deadline, in place of the one before.
	SetTimer
)

// Output is one thing for the shell to do.
type Output struct {
	Do       Do
	State    messages.State
	Try      bool
	Shared   bool
	Call     CallID
	Hold     HoldID
	Beside   HoldID
	Token    messages.Token
	Deadline time.Duration
	Reason   messages.Reason
	Detail   string
}
