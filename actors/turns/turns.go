package turns

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// CallID names a call, HoldID a hold: a slot and the number of its use, so that the ID of one that
// has ended names nothing. Zero is none. Slot gives a small number, for a table of the shell's.
type (
	CallID uint64
	HoldID uint64
)

// Slot gives the slot of a call. It is used again when the call has ended.
func (id CallID) Slot() int { return int(uint32(id)) }

// Slot gives the slot of a hold. It is used again when the hold has ended.
func (id HoldID) Slot() int { return int(uint32(id)) }

// Moment is what the shell has read of its clocks when an input comes.
type Moment struct {
	// At is the time since some start, by a clock that never goes back.
	At    time.Duration
	Lease Lease
}

// Lease reports whether a term of the lease is unbroken, and valid by the clock, at this moment.
type Lease interface {
	Unbroken(epoch, term uint64) bool
}

// Do says what an output asks for.
type Do uint8

// What the shell is to do. A call is told, a lock actor is commanded.
const (
	// Grant: Call holds from now on, with Hold and Token.
	Grant Do = iota
	// Refuse: Call has ended and never held. Reason and Detail say why.
	Refuse
	// Tell: Call, which holds, is in State from now on. StateRevoking has the Deadline of its grace, or 0;
	// StateReleased with ReasonRevoked and StateLost end it.
	Tell
	// Ask: spawn a lock actor for Hold, as Call asks (Ordered). Beside is the hold at whose place it is asked
	// for, a downgrade. Shared: its data say that several calls may have it, and name no owner.
	Ask
	// Cancel: cancel the lock actor of Hold, which nobody needs any more.
	Cancel
	// Release: have the lock actor of Hold give the lock back.
	Release
	// Check: have a transaction committed that checks the node of Hold, and answer with Checked.
	Check
	// WatchContention: list the queue of Hold with a watch. As soon as a listing shows another contender
	// than Hold, answer with Contended.
	WatchContention
	// SetTimer: call Timer with Call or Hold at the time Deadline. It takes the place of the one before.
	SetTimer
	// TxnAgain: try the transaction of Hold again that was refused for want of room. TxnFull: there is none.
	TxnAgain
	TxnFull
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

// Turns has the calls of one client. New makes it.
type Turns struct {
	now    Moment
	out    []Output
	taken  []Output // what Take gave last, to be used again
	queues map[Key]*queue
	calls  []*call // by slot
	holds  []*hold // by slot
	free   struct {
		calls []*call
		holds []*hold
	}
	number uint64 // of the newest call
	kept   int    // holds that are kept
	room   room
	bounds Bounds
	ending bool // Close was called: nothing is kept any more
	over   []*hold
}

// Bounds are those of a client.
type Bounds struct {
	// Waiting bounds the holds of a queue that are asked for: longer queues make listings that Java's clients refuse.
	Waiting int
	// Kept bounds the holds that are kept.
	Kept int
}

// DefaultBounds are those that clients have.
func DefaultBounds() Bounds { return Bounds{Waiting: 256, Kept: 1024} }

// New makes the machine of a client that has just begun.
func New(b Bounds) *Turns { return &Turns{queues: map[Key]*queue{}, bounds: b} }

// Take gives what is to be done, in order, and forgets it. It is valid until the next Take but one.
func (t *Turns) Take() []Output {
	out := t.out
	t.out, t.taken = t.taken[:0], out
	return out
}

func (t *Turns) emit(o Output) { t.out = append(t.out, o) }

// call gives the call of an ID; nil where it has ended.
func (t *Turns) call(id CallID) *call {
	if id == 0 || id.Slot() >= len(t.calls) || t.calls[id.Slot()].id != id {
		return nil
	}
	return t.calls[id.Slot()]
}

// hold gives the hold of an ID; nil where it has ended.
func (t *Turns) hold(id HoldID) *hold {
	if id == 0 || id.Slot() >= len(t.holds) || t.holds[id.Slot()].id != id {
		return nil
	}
	return t.holds[id.Slot()]
}

// newCall gives an empty call. Slots are used again, with another ID.
func (t *Turns) newCall() *call {
	t.number++
	if last := len(t.free.calls) - 1; last >= 0 {
		c := t.free.calls[last]
		t.free.calls = t.free.calls[:last]
		*c = call{id: c.id, number: t.number}
		c.sameOwner = c
		return c
	}
	c := &call{id: CallID(len(t.calls)) | 1<<32, number: t.number}
	c.sameOwner = c
	t.calls = append(t.calls, c)
	return c
}

// freeCall forgets a call.
func (t *Turns) freeCall(c *call) {
	c.queue.calls--
	c.leaveOwner()
	c.id += 1 << 32
	c.phase = ended
	t.free.calls = append(t.free.calls, c)
}

// newHold gives an empty hold.
func (t *Turns) newHold() *hold {
	if last := len(t.free.holds) - 1; last >= 0 {
		h := t.free.holds[last]
		t.free.holds = t.free.holds[:last]
		*h = hold{id: h.id}
		return h
	}
	h := &hold{id: HoldID(len(t.holds)) | 1<<32}
	t.holds = append(t.holds, h)
	return h
}

// freeHold forgets a hold, of which nothing is heard any more.
func (t *Turns) freeHold(h *hold) {
	h.line.holds--
	h.line.queue.holds--
	h.id += 1 << 32
	h.phase = gone
	t.free.holds = append(t.free.holds, h)
}
