package sharing

import (
	"cmp"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Notices tells what becomes of a call as a lock actor of its own would, in transitions and notices. It
// takes what the Call hears, one thing at a time, and nothing after the end.
type Notices struct {
	Grant messages.Grant // with a node once the call has held
	State messages.State
	Send  func(notice any)

	revoked bool
	why     messages.Reason // for which its user gives it up
}

// Granted: it has a hold.
func (n *Notices) Granted(hold *Hold, token messages.Token) {
	if n.ends() {
		return
	}
	held := *hold.Held
	held.Token, held.Places, held.Until = token, 0, hold.Clock.Deadline()
	n.Grant = held.Grant
	n.tell(&held, "Joined", messages.ReasonNone, messages.StateHeld)
}

// Refused: it has ended, and never held.
func (n *Notices) Refused(why messages.Reason, detail string) {
	switch why {
	case messages.ReasonNotAcquired, messages.ReasonDeadlock, messages.ReasonTimeout, messages.ReasonCancelled:
		n.cancelled("Refused", why, detail)
	default:
		n.tell(&messages.Failed{Grant: n.Grant, Reason: why, Detail: detail}, "Refused", why, messages.StateFailed)
	}
}

// Withdrawn: its user has given it up, and it never held.
func (n *Notices) Withdrawn(why messages.Reason) { n.cancelled("Cancel", why, "") }

func (n *Notices) cancelled(on string, why messages.Reason, detail string) {
	n.tell(&messages.Cancelled{Grant: n.Grant, Reason: why, Detail: detail}, on, why, messages.StateReleasing, messages.StateCancelled)
}

// Leaves: its user gives it up.
func (n *Notices) Leaves(why messages.Reason) {
	n.why = why
	n.Moves("Cancel", why, messages.StateReleasing)
}

// Deadlocked: it is about to be refused for a deadlock.
func (n *Notices) Deadlocked(d messages.Deadlock) {
	if !n.ends() {
		n.Send(&messages.Deadlocked{Grant: n.Grant, Deadlock: d})
	}
}

// Told is that of a Call.
func (n *Notices) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	if n.ends() && !state.Terminal() {
		return
	}
	switch state {
	case messages.StateRecovering:
		n.tell(&messages.Suspended{Grant: n.Grant, Until: until}, "Suspended", why, state)
	case messages.StateHeld, messages.StateRevoking:
		if n.State != messages.StateRecovering {
			n.revoked = true
			n.tell(&messages.RevokeRequested{Grant: n.Grant, Deadline: until}, "Revoke", why, state)
			return
		}
		if n.revoked {
			state = messages.StateRevoking
		}
		n.tell(&messages.Resumed{Grant: n.Grant, Until: until}, "Resumed", why, state)
	case messages.StateReleasing:
		n.tell(&messages.Revoked{Grant: n.Grant}, "GraceOver", why, state)
	case messages.StateLost:
		n.tell(&messages.Lost{Grant: n.Grant, Reason: why, Detail: detail}, "Lost", why, state)
	case messages.StateFailed:
		n.tell(&messages.Failed{Grant: n.Grant, Reason: why, Detail: detail}, "Failed", why, messages.StateReleasing, state)
	default:
		why = cmp.Or(n.why, why)
		n.tell(&messages.Released{Grant: n.Grant, Reason: why}, "Left", why, messages.StateReleasing, messages.StateReleased)
	}
}

func (n *Notices) ends() bool { return n.State == messages.StateReleasing || n.State.Terminal() }

// Moves tells of changes of state, but for those to the state that it is in. A call begins with creating.
func (n *Notices) Moves(on string, why messages.Reason, through ...messages.State) {
	if n.State == messages.StateNone && through[0] != messages.StateCreating {
		n.Moves(on, messages.ReasonNone, messages.StateCreating)
	}
	for i, to := range through {
		t := &messages.Transition{Grant: n.Grant, From: n.State, To: to, On: on, Do: "decided by its client", At: time.Now()}
		if i == len(through)-1 {
			t.Reason = why
		}
		if to != n.State {
			n.State = to
			n.Send(t)
		}
	}
}

// tell tells of changes of state, and the notice that comes with them.
func (n *Notices) tell(notice any, on string, why messages.Reason, through ...messages.State) {
	if !n.State.Terminal() {
		n.Moves(on, why, through...)
		n.Send(notice)
	}
}
