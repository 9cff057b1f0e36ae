package sharing

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/messages"

	"github.com/turnstile-locks/turnstile/actors/turns"
)

// observed is a call with observers. Its lock actor tells them all; where it has none, because it is
// refused inside, or shares the hold of a lease that it is made within, observed tells them what a lock
// actor would have.
type observed struct {
	Observed
	calls *Calls
	below atomic.Bool // it has a lock actor

	mu    sync.Mutex
	state messages.State
	grant messages.Grant
}

// observing has the observers of a call be told, if it has any.
func (c *Calls) observing(who Call) Call {
	if o, ok := who.(Observed); ok && len(o.Observers()) > 0 {
		return &observed{Observed: o, calls: c, grant: messages.Grant{Path: o.Path()}}
	}
	return who
}

// Granted tells them that it shares a hold.
func (o *observed) Granted(id turns.CallID, hold *Hold, token messages.Token) func() {
	then := o.Observed.Granted(id, hold, token)
	held := *hold.Held
	held.Token, held.Places, held.Until = token, 0, hold.Clock.Deadline()
	return func() {
		o.tell(func() {
			o.grant = held.Grant
			o.moves("Joined", messages.ReasonNone, messages.StateCreating, messages.StateHeld)
			o.send(&held)
		})
		if then != nil {
			then()
		}
	}
}

// Refused tells them that it is refused.
func (o *observed) Refused(why messages.Reason, detail string) {
	o.tell(func() { o.fails(why, detail) })
	o.Observed.Refused(why, detail)
}

func (o *observed) fails(why messages.Reason, detail string) {
	switch why {
	case messages.ReasonNotAcquired, messages.ReasonDeadlock, messages.ReasonCancelled, messages.ReasonTimeout:
		o.moves("Refused", why, messages.StateCreating, messages.StateReleasing, messages.StateCancelled)
		o.send(&messages.Cancelled{Grant: o.grant, Reason: why, Detail: detail})
	default:
		o.moves("Refused", why, messages.StateCreating, messages.StateFailed)
		o.send(&messages.Failed{Grant: o.grant, Reason: why, Detail: detail})
	}
}

// withdrawn tells them that its user has withdrawn it.
func (o *observed) withdrawn(why messages.Reason) { o.tell(func() { o.fails(why, "") }) }

// Told tells them what becomes of a hold that it shares.
func (o *observed) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	o.tell(func() {
		switch was := o.state; state {
		case messages.StateRecovering:
			o.moves("Suspended", why, state)
			o.send(&messages.Suspended{Grant: o.grant, Until: until})
		case messages.StateHeld, messages.StateRevoking:
			o.moves("Resumed", why, state)
			if was == messages.StateRecovering {
				o.send(&messages.Resumed{Grant: o.grant, Until: until})
			} else {
				o.send(&messages.RevokeRequested{Grant: o.grant, Deadline: until})
			}
		case messages.StateReleasing:
			o.moves("GraceOver", why, state)
			o.send(&messages.Revoked{Grant: o.grant})
		case messages.StateLost:
			o.moves("Lost", why, state)
			o.send(&messages.Lost{Grant: o.grant, Reason: why, Detail: detail})
		case messages.StateFailed:
			o.moves("Failed", why, messages.StateReleasing, state)
			o.send(&messages.Failed{Grant: o.grant, Reason: why, Detail: detail})
		default:
			o.moves("Left", why, messages.StateReleasing, messages.StateReleased)
			o.send(&messages.Released{Grant: o.grant, Reason: why})
		}
	})
	o.Observed.Told(state, until, why, detail)
}

// tell tells the observers, unless a lock actor does, or the end was told.
func (o *observed) tell(do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.below.Load() && !o.state.Terminal() {
		do()
	}
}

// moves tells them of changes of state.
func (o *observed) moves(on string, why messages.Reason, through ...messages.State) {
	for i, to := range through {
		t := &messages.Transition{Grant: o.grant, From: o.state, To: to, On: on, Do: "decided by its client", At: time.Now()}
		if i == len(through)-1 {
			t.Reason = why
		}
		if to != o.state {
			o.send(t)
		}
		o.state = to
	}
}

func (o *observed) send(message any) {
	for _, observer := range o.Observers() {
		o.calls.root.Send(observer, message)
	}
}

// Deadlocked passes it on.
func (o *observed) Deadlocked(d messages.Deadlock) {
	if who, ok := o.Observed.(Deadlocked); ok {
		who.Deadlocked(d)
	}
}

// LockActors passes it on.
func (o *observed) LockActors() *sync.WaitGroup {
	if who, ok := o.Observed.(Counted); ok {
		return who.LockActors()
	}
	return nil
}

// Troubled passes it on.
func (o *observed) Troubled(text string) {
	if who, ok := o.Observed.(Troubled); ok {
		who.Troubled(text)
	}
}
