package sharing

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"

	"github.com/turnstile-locks/turnstile/actors/turns"
)

// observed is a call with observers and no lock actor to tell them: it is refused inside, or shares
// the hold of a lease around it.
type observed struct {
	Own
	notices *Notices
}

func (c *Calls) observing(who Call) Call {
	o, ok := who.(Own)
	if !ok || len(o.Observers()) == 0 {
		return who
	}
	return &observed{o, NewNotices(o.Path(), func(notice any) {
		for _, observer := range o.Observers() {
			c.root.Send(observer, notice)
		}
	})}
}

func (o *observed) Granted(id turns.CallID, hold *Hold, token messages.Token) func() {
	then, tell := o.Own.Granted(id, hold, token), o.notices.Granted(id, hold, token)
	return func() {
		tell()
		if then != nil {
			then()
		}
	}
}

func (o *observed) Refused(why messages.Reason, detail string, more More) {
	o.notices.Refused(why, detail, more)
	o.Own.Refused(why, detail, more)
}

func (o *observed) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	o.notices.Told(state, until, why, detail)
	o.Own.Told(state, until, why, detail)
}
