package sharing

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// tellObservers tells the observers of a call that was refused before it had a lock actor what one
// would have told them.
func (c *Calls) tellObservers(o *output) {
	who, observed := o.who.(Observed)
	if !observed || !o.untold {
		return
	}
	states := []messages.State{messages.StateNone, messages.StateCreating, messages.StateFailed}
	grant := messages.Grant{Path: who.Path()}
	var end any = &messages.Failed{Grant: grant, Reason: o.why, Detail: o.detail}
	switch o.why {
	case messages.ReasonNotAcquired, messages.ReasonDeadlock:
		states = []messages.State{messages.StateNone, messages.StateCreating, messages.StateReleasing, messages.StateCancelled}
		end = &messages.Cancelled{Grant: grant, Reason: o.why, Detail: o.detail}
	}
	for _, observer := range who.Observers() {
		for i, to := range states[1:] {
			t := &messages.Transition{Grant: grant, From: states[i], To: to, On: "Refused", Do: "refused by its client", At: time.Now()}
			if i > 0 {
				t.Reason = o.why
			}
			c.root.Send(observer, t)
		}
		c.root.Send(observer, end)
	}
}
