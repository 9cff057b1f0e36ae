package sharing

import (
	"cmp"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// Notices is a Call that sends the transitions and notices that its own lock actor would.
type Notices struct {
	send func(notice any)

	mu      sync.Mutex
	state   messages.State
	grant   messages.Grant // with a node once it has held
	permits int            // see Refused
	revoked bool
	why     messages.Reason // for which its user gives up
}

// NewNotices makes Notices. send must not call them.
func NewNotices(path string, send func(notice any)) *Notices {
	return &Notices{send: send, grant: messages.Grant{Path: path}}
}

// Waits tells that it waits.
func (n *Notices) Waits() { n.move("Begin", messages.ReasonNone, messages.StateWatching) }

// Granted is that of a Call.
func (n *Notices) Granted(_ turns.CallID, hold *Hold, token messages.Token) func() {
	return func() {
		held := *hold.Held
		held.Token, held.Places, held.Until = token, 0, hold.Clock.Deadline()
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.state < messages.StateReleasing {
			n.grant = held.Grant
			n.move("Joined", messages.ReasonNone, messages.StateHeld)
			n.send(&held)
		}
	}
}

// Behind is that of a Waiter.
func (n *Notices) Behind(contender messages.Contender) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.grant.Node == "" && n.state < messages.StateReleasing {
		n.send(&messages.Behind{Grant: n.grant, Contender: contender})
	}
}

// Refused is that of a Call.
func (n *Notices) Refused(why messages.Reason, detail string, more More) {
	if more.Deadlock != nil {
		n.send(&messages.Deadlocked{Grant: n.grant, Deadlock: *more.Deadlock})
	}
	n.permits = more.Permits
	to := messages.StateFailed
	switch why {
	case messages.ReasonNotAcquired, messages.ReasonDeadlock, messages.ReasonTimeout, messages.ReasonCancelled, messages.ReasonOwnerGone:
		to = messages.StateCancelled
	}
	n.end(to, why, detail)
}

// Told is that of a Call.
func (n *Notices) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	if state.Terminal() {
		n.end(state, why, detail)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.state >= messages.StateReleasing:
	case state == messages.StateReleasing:
		n.move("GraceOver", why, state)
		n.send(&messages.Revoked{Grant: n.grant})
	case state == messages.StateRecovering:
		n.move("Suspended", why, state)
		n.send(&messages.Suspended{Grant: n.grant})
	case n.state == messages.StateRecovering:
		if n.revoked {
			state = messages.StateRevoking
		}
		n.move("Resumed", why, state)
		n.send(&messages.Resumed{Grant: n.grant})
	default:
		n.revoke(until)
	}
}

// Revoke tells that its own user asks for the lock.
func (n *Notices) Revoke() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.revoke(time.Time{})
}

func (n *Notices) revoke(until time.Time) {
	if n.state == messages.StateHeld {
		n.revoked = true
		n.move("Revoke", messages.ReasonNone, messages.StateRevoking)
		n.send(&messages.RevokeRequested{Grant: n.grant, Deadline: until})
	}
}

// Leaves tells that its user gives it up, and gives the reason that is told.
func (n *Notices) Leaves(why messages.Reason) messages.Reason {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state < messages.StateReleasing {
		if n.why = why; why == "" || why == messages.ReasonReleased && n.grant.Node == "" {
			n.why = messages.ReasonCancelled
		}
		n.move("Cancel", n.why, messages.StateReleasing)
	}
	return n.why
}

// end tells the end. A hold whose lease was over before the grant was told was none.
func (n *Notices) end(to messages.State, why messages.Reason, detail string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := n.grant.Node != ""
	switch {
	case n.state.Terminal():
		return
	case to == messages.StateReleased:
		why = cmp.Or(n.why, why)
	case to == messages.StateFailed && !held && why == n.why: // for which its user gives up
		to = messages.StateCancelled
	case to == messages.StateLost && !held:
		to, why, detail = messages.StateCancelled, messages.ReasonOwnerGone, ""
	}
	if n.state != messages.StateReleasing && (to == messages.StateCancelled || to != messages.StateLost && held) {
		n.move("Ended", messages.ReasonNone, messages.StateReleasing)
	}
	n.move("Ended", why, to)
	switch to {
	case messages.StateReleased:
		n.send(&messages.Released{Grant: n.grant, Reason: why})
	case messages.StateLost:
		n.send(&messages.Lost{Grant: n.grant, Reason: why, Detail: detail})
	case messages.StateCancelled:
		n.send(&messages.Cancelled{Grant: n.grant, Reason: why, Detail: detail})
	case messages.StateFailed:
		n.send(&messages.Failed{Grant: n.grant, Reason: why, Detail: detail, Permits: n.permits})
	}
}

// move tells a change of state. All begin with creating.
func (n *Notices) move(on string, why messages.Reason, to messages.State) {
	if n.state == messages.StateNone && to != messages.StateCreating {
		n.move(on, messages.ReasonNone, messages.StateCreating)
	}
	n.send(&messages.Transition{Grant: n.grant, From: n.state, To: to, On: on, Do: "decided by its client", Reason: why, At: time.Now()})
	n.state = to
}
