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
	below atomic.Bool // it has a lock actor

	mu      sync.Mutex
	notices Notices
}

// observing has the observers of a call be told, if it has any.
func (c *Calls) observing(who Call) Call {
	o, ok := who.(Observed)
	if !ok || len(o.Observers()) == 0 {
		return who
	}
	return &observed{Observed: o, notices: Notices{Grant: messages.Grant{Path: o.Path()}, Send: func(notice any) {
		for _, observer := range o.Observers() {
			c.root.Send(observer, notice)
		}
	}}}
}

// tell gives what is to be told, unless a lock actor tells it.
func (o *observed) tell(do func(*Notices)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.below.Load() {
		do(&o.notices)
	}
}

// Granted tells them that it shares a hold.
func (o *observed) Granted(id turns.CallID, hold *Hold, token messages.Token) func() {
	then := o.Observed.Granted(id, hold, token)
	return func() {
		o.tell(func(n *Notices) { n.Granted(hold, token) })
		if then != nil {
			then()
		}
	}
}

// Refused tells them that it is refused.
func (o *observed) Refused(why messages.Reason, detail string) {
	o.tell(func(n *Notices) { n.Refused(why, detail) })
	o.Observed.Refused(why, detail)
}

// withdrawn tells them that its user has withdrawn it.
func (o *observed) withdrawn(why messages.Reason) { o.tell(func(n *Notices) { n.Withdrawn(why) }) }

// Told tells them what becomes of a hold that it shares.
func (o *observed) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	o.tell(func(n *Notices) { n.Told(state, until, why, detail) })
	o.Observed.Told(state, until, why, detail)
}

// Deadlocked tells them for which deadlock it is refused.
func (o *observed) Deadlocked(d messages.Deadlock) {
	o.tell(func(n *Notices) { n.Deadlocked(d) })
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
